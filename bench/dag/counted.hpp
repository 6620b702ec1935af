// SPDX-License-Identifier: BSL-1.0
// The graph by hand, for runtimes whose own graphs cost more: each task counts its missing inputs,
// and the task that delivers the last one starts it. The runtime decides how tasks are started.
#pragma once

#include "problem.hpp"

#include <atomic>
#include <utility>

namespace bench::dag {

class counted_run {
public:
    explicit counted_run(const graph& g) : m_graph(g), m_table(g.size()), m_missing(g.size()) {
        for (task_id t = 0; t < g.size(); ++t) {
            m_missing[t].store(static_cast<std::uint32_t>(g.inputs(t).size()),
                               std::memory_order_relaxed);
        }
    }

    /// Starts the tasks without inputs; start(t) makes a task that calls run(t, start).
    template <class Start>
    void start_first(const Start& start) {
        for (task_id t = 0; t < m_graph.size() && m_graph.inputs(t).empty(); ++t) {
            start(t);
        }
    }

    template <class Start>
    void run(task_id t, const Start& start) {
        m_graph.execute_in(m_table.data(), t);
        for (const task_id next : m_graph.successors(t)) {
            // acq_rel: the last one sees the results of all others.
            if (m_missing[next].fetch_sub(1, std::memory_order_acq_rel) == 1) {
                start(next);
            }
        }
    }

    std::vector<value> take_table() { return std::move(m_table); }

private:
    const graph& m_graph;
    std::vector<value> m_table;
    std::vector<std::atomic<std::uint32_t>> m_missing;
};

}  // namespace bench::dag
