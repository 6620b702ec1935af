// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <deque>
#include <memory>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_for.h>

namespace bench::heat {

namespace {

void loop(std::size_t n, const std::function<void(std::size_t)>& f) {
    tbb::parallel_for(std::size_t{0}, n, f, tbb::static_partitioner());
}

/// The partitioner assigns a block to the thread that had it in the previous step.
void with_loop(rings& r) {
    tbb::affinity_partitioner same_threads;
    for (int step = 1; step <= r.steps(); ++step) {
        tbb::parallel_for(
            std::size_t{0}, r.partitions(), [&](std::size_t i) { r.advance(i, step); },
            same_threads);
    }
}

/// The time includes making the graph.
void with_flow_graph(rings& r) {
    tbb::flow::graph flow;
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    std::deque<node> nodes;
    const std::size_t count = r.partitions();
    for (int step = 1; step <= r.steps(); ++step) {
        for (std::size_t i = 0; i < count; ++i) {
            nodes.emplace_back(flow,
                               [&r, i, step](tbb::flow::continue_msg) { r.advance(i, step); });
            if (step > 1) {
                const std::size_t before = nodes.size() - 1 - i - count;
                for (const std::size_t near : {i + count - 1, i, i + 1}) {
                    tbb::flow::make_edge(nodes[before + near % count], nodes.back());
                }
            }
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        nodes[i].try_put(tbb::flow::continue_msg());
    }
    flow.wait_for_all();
}

template <class Sweep>
job checked(const arguments& a, std::size_t partition, Sweep sweep) {
    return tbb_job(a, [r = std::make_shared<rings>(a, partition), sweep] {
        return measured(*r, loop, [&] { sweep(*r); });
    });
}

const contender parallel_for{"heat", "parallel_for", [](const arguments& a) {
                                 return checked(a, rings::k_block, with_loop);
                             }};
const contender small{"heat", "flow_graph_10000",
                      [](const arguments& a) { return checked(a, 10'000, with_flow_graph); }};
const contender large{"heat", "flow_graph_100000",
                      [](const arguments& a) { return checked(a, 100'000, with_flow_graph); }};

}  // namespace

}  // namespace bench::heat
