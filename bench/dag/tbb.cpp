// SPDX-License-Identifier: BSL-1.0
#include "counted.hpp"

#include "../harness/tbb.hpp"

#include <deque>
#include <memory>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>

namespace bench::dag {

namespace {

std::vector<value> with_flow_graph(const graph& g) {
    std::vector<value> table(g.size());
    tbb::flow::graph flow;
    std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes;
    for (task_id t = 0; t < g.size(); ++t) {
        nodes.emplace_back(
            flow, [&g, &table, t](tbb::flow::continue_msg) { g.execute_in(table.data(), t); });
        for (const task_id input : g.inputs(t)) {
            tbb::flow::make_edge(nodes[input], nodes.back());
        }
    }
    for (task_id t = 0; t < g.size() && g.inputs(t).empty(); ++t) {
        nodes[t].try_put(tbb::flow::continue_msg());
    }
    flow.wait_for_all();
    return table;
}

std::vector<value> with_group(const graph& g) {
    counted_run run(g);
    tbb::task_group group;
    struct starter {
        counted_run& run;
        tbb::task_group& group;
        void operator()(task_id t) const {
            group.run([self = *this, t] { self.run.run(t, self); });
        }
    };
    run.start_first(starter{run, group});
    group.wait();
    return run.take_table();
}

template <class F>
job checked(const arguments& a, F f) {
    return tbb_job(a, [g = std::make_shared<const graph>(a.size), f] {
        return timed([&] { return f(*g); }, [&](const auto& table) { g->check_table(table); });
    });
}

const contender flow_graph{"dag", "flow_graph",
                           [](const arguments& a) { return checked(a, with_flow_graph); }};
const contender counted{"dag", "counted",
                        [](const arguments& a) { return checked(a, with_group); }};

}  // namespace

}  // namespace bench::dag
