// SPDX-License-Identifier: BSL-1.0
// dag: a graph of tasks of very different length, 0.2 to 20 us (4 on average), in layers of 1 to
// 200. Each needs the results of one to four tasks of the two previous layers. Except in the narrow
// layers there is enough work for dozens of workers. The graph is the same in every run. Size: the
// number of tasks, approximately, because the last layer is complete.
#pragma once

#include "../harness/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::dag {

using value = std::uint64_t;
using task_id = std::uint32_t;

/// A step of splitmix64: for random numbers, and for the hash that is the work.
inline value mixed(value z) noexcept {
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/// Lists of numbers, one for each task, in one array.
class lists {
public:
    std::span<const task_id> operator[](task_id t) const noexcept {
        return {m_all.data() + m_begin[t], m_all.data() + m_begin[t + 1]};
    }
    std::size_t size() const noexcept { return m_begin.size() - 1; }

    void add(const std::vector<task_id>& list) {
        m_all.insert(m_all.end(), list.begin(), list.end());
        m_begin.push_back(m_all.size());
    }

private:
    std::vector<task_id> m_all;
    std::vector<std::size_t> m_begin{0};
};

class graph {
public:
    static constexpr std::size_t k_most_inputs = 4;

    explicit graph(long tasks) {
        layer before{};
        layer now{};
        while (m_inputs.size() < static_cast<std::size_t>(tasks)) {
            constexpr task_id k_widest = 200;
            const auto first = static_cast<task_id>(m_inputs.size());
            const layer next{first, 1 + below(k_widest)};
            for (task_id i = 0; i < next.width; ++i) {
                add_task(before, now);
            }
            before = now;
            now = next;
        }
        find_successors();
        m_answer = serial_answer();
    }

    std::size_t size() const noexcept { return m_inputs.size(); }
    std::span<const task_id> inputs(task_id t) const noexcept { return m_inputs[t]; }
    std::span<const task_id> successors(task_id t) const noexcept { return m_successors[t]; }

    /// The body of every task; value_of(i) is the result of its i-th input.
    template <class ValueOf>
    value execute(task_id t, const ValueOf& value_of) const {
        value v = mixed(t);
        for (std::size_t i = 0; i < inputs(t).size(); ++i) {
            v = mixed(v ^ value_of(i));
        }
        for (std::uint32_t i = 0; i < m_rounds[t]; ++i) {
            v = mixed(v);
        }
        return v;
    }

    /// The same with all results in one table.
    void execute_in(value* table, task_id t) const {
        table[t] = execute(t, [&](std::size_t i) { return table[inputs(t)[i]]; });
    }

    /// value_of(t) is the result of task t.
    template <class ValueOf>
    void check(const ValueOf& value_of) const {
        expect_equal("the sum of all results", sum_of(value_of), m_answer);
    }
    void check_table(const std::vector<value>& table) const {
        check([&](task_id t) { return table[t]; });
    }

private:
    struct layer {
        task_id first = 0;
        task_id width = 0;
    };

    task_id below(task_id end) noexcept {
        return static_cast<task_id>((m_random = mixed(m_random)) % end);
    }

    void add_task(const layer& before, const layer& now) {
        std::vector<task_id> in;
        if (now.width > 0) {
            const task_id wanted = 1 + below(k_most_inputs);
            for (task_id i = 0; i < wanted; ++i) {
                const layer& from = before.width > 0 && below(4) == 0 ? before : now;
                const task_id t = from.first + below(from.width);
                if (std::find(in.begin(), in.end(), t) == in.end()) {
                    in.push_back(t);
                }
            }
        }
        m_inputs.add(in);
        m_rounds.push_back(random_length());
    }

    /// Rounds for 0.2 to 20 us in all; their logarithm is evenly distributed.
    std::uint32_t random_length() {
        constexpr double k_least_ns = 200;
        constexpr double k_ratio = 100;
        constexpr double k_round_ns = 5.3;  // 13 cycles of 2.45 GHz
        constexpr task_id k_parts = 1 << 20;
        const double ns =
            k_least_ns * std::pow(k_ratio, static_cast<double>(below(k_parts)) / k_parts);
        return static_cast<std::uint32_t>(ns / k_round_ns);
    }

    void find_successors() {
        std::vector<std::vector<task_id>> all(size());
        for (task_id t = 0; t < size(); ++t) {
            for (const task_id input : inputs(t)) {
                all[input].push_back(t);
            }
        }
        for (const auto& list : all) {
            m_successors.add(list);
        }
    }

    template <class ValueOf>
    value sum_of(const ValueOf& value_of) const {
        value sum = 0;
        for (task_id t = 0; t < size(); ++t) {
            sum += mixed(value_of(t) ^ t);
        }
        return sum;
    }

    value serial_answer() const {
        std::vector<value> table(size());
        for (task_id t = 0; t < size(); ++t) {
            execute_in(table.data(), t);
        }
        return sum_of([&](task_id t) { return table[t]; });
    }

    value m_random = 1;
    lists m_inputs;
    lists m_successors;
    std::vector<std::uint32_t> m_rounds;
    value m_answer = 0;
};

}  // namespace bench::dag
