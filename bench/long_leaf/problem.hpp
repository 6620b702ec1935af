// SPDX-License-Identifier: BSL-1.0
// long_leaf: a parent spawns small siblings of 20 us, then computes for 50 ms without calling the
// runtime, then waits for the siblings. Other workers should run them meanwhile. Value: the longest
// time in us that a worker was idle while there were siblings not yet started. first_us: from the
// begin of the long computation until another thread had started a sibling; elsewhere: how many
// siblings other threads had started before its end. Size: the siblings.
#pragma once

#include "../harness/figures.hpp"
#include "../harness/records.hpp"
#include "../harness/work.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench::long_leaf {

constexpr double k_leaf = 50e-3;  // seconds
constexpr double k_sibling = 20e-6;

class family {
public:
    explicit family(const arguments& a)
        : m_workers(parallel_workers(a.workers)), m_siblings(static_cast<std::size_t>(a.size)) {}

    /// One repetition. `run_all(family)` runs sibling(i) for all i < size() as tasks, then leaf(),
    /// and waits.
    template <class RunAll>
    measurement run(RunAll run_all) {
        std::fill(m_siblings.begin(), m_siblings.end(), record{});
        const double start = now();
        run_all(*this);
        return result(start, now());
    }

    long size() const noexcept { return static_cast<long>(m_siblings.size()); }
    void sibling(long i) {
        m_siblings[static_cast<std::size_t>(i)] = recorded([this] { work(m_sibling_steps); });
    }
    void leaf() {
        m_leaf = recorded([this] { work(m_leaf_steps); });
    }

private:
    measurement result(double start, double end) const {
        double first = m_leaf.end;
        long elsewhere = 0;
        for (const record& r : m_siblings) {
            expect_equal("whether a sibling has run", r.end > 0, true);
            if (r.thread != m_leaf.thread && r.start < m_leaf.end) {
                first = std::min(first, r.start);
                ++elsewhere;
            }
        }
        std::vector<record> all = m_siblings;
        all.push_back(m_leaf);
        const std::vector<double> gaps = idle_gaps(std::move(all), start, m_workers);
        const double serial = k_leaf + k_sibling * static_cast<double>(m_siblings.size());
        measurement m{percentile(gaps, 1) * 1e6, 1, {}};
        m.more["gap_median_us"] = median(gaps) * 1e6;
        m.more["first_us"] = std::max(0.0, first - m_leaf.start) * 1e6;
        m.more["elsewhere"] = static_cast<double>(elsewhere);
        m.more["seconds"] = end - start;
        m.more["times_ideal"] = (end - start) / std::max(k_leaf, serial / m_workers);
        return m;
    }

    int m_workers;
    std::vector<record> m_siblings;
    record m_leaf;
    long m_sibling_steps = steps_for(k_sibling);
    long m_leaf_steps = steps_for(k_leaf);
};

}  // namespace bench::long_leaf
