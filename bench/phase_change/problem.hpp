// SPDX-License-Identifier: BSL-1.0
// phase_change: a great many tiny tasks, then a few large ones, then tiny ones again, each phase
// from one loop; a runtime that has adapted to one kind must notice the change. Value: times the
// ideal, which is the serial time divided by the workers that can run. Size: the tiny tasks of a
// phase.
#pragma once

#include "../harness/figures.hpp"
#include "../harness/records.hpp"
#include "../harness/work.hpp"

#include <cstddef>
#include <numeric>

namespace bench::phase_change {

class phases {
public:
    explicit phases(const arguments& a)
        : m_workers(parallel_workers(a.workers)),
          m_seen(static_cast<std::size_t>(a.size)),
          m_large(a.size >= 1'000'000 ? 100 : 20),
          m_seconds(a.size >= 1'000'000 ? 10e-3 : 5e-3),
          m_steps(steps_for(m_seconds)) {
        const double start = now();
        all_tiny([](long count, auto one) {
            for (long i = 0; i < count; ++i) {
                one(i);
            }
        });
        m_serial_tiny = now() - start;
    }

    /// One repetition; `spawn_all(count, one)` makes a task for each one(i) and waits for them.
    template <class SpawnAll>
    measurement run(SpawnAll spawn_all) {
        const double start = now();
        all_tiny(spawn_all);
        const double begin = now();
        spawn_all(static_cast<long>(m_large.size()), [this](long i) {
            m_large[static_cast<std::size_t>(i)] = recorded([this] { work(m_steps); });
        });
        const double end = now();
        all_tiny(spawn_all);
        return result(start, begin, end, now());
    }

private:
    template <class SpawnAll>
    void all_tiny(SpawnAll spawn_all) {
        std::fill(m_seen.begin(), m_seen.end(), char{0});
        spawn_all(static_cast<long>(m_seen.size()), [this](long i) { tiny(i); });
        const long seen = std::accumulate(m_seen.begin(), m_seen.end(), 0L);
        expect_equal("the number of tiny tasks", seen, static_cast<long>(m_seen.size()));
    }

    [[gnu::noinline]] void tiny(long i) noexcept { m_seen[static_cast<std::size_t>(i)] = 1; }

    measurement result(double start, double begin, double end, double finish) const {
        const double serial = 2 * m_serial_tiny + m_seconds * static_cast<double>(m_large.size());
        const double ideal = serial / m_workers;
        const std::vector<double> gaps = idle_gaps(m_large, begin, m_workers);
        measurement m{(finish - start) / ideal, 1, {}};
        m.more["seconds"] = finish - start;
        m.more["tiny_before"] = begin - start;
        m.more["large"] = end - begin;
        m.more["tiny_after"] = finish - end;
        m.more["gap_median_us"] = median(gaps) * 1e6;
        m.more["gap_max_us"] = percentile(gaps, 1) * 1e6;
        return m;
    }

    int m_workers;
    std::vector<char> m_seen;
    std::vector<record> m_large;
    double m_seconds;  ///< of a large task
    long m_steps;
    double m_serial_tiny = 0;
};

}  // namespace bench::phase_change
