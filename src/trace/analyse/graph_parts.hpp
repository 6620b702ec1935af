// SPDX-License-Identifier: BSL-1.0
// The outermost domains of a graph. A program that repeats its work makes the same graph again and
// again; drawings show it once.
#pragma once

#include <quern/trace/dependence_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace quern::trace::detail {

struct graph_part {
    std::uint32_t domain = 0;  ///< the first that made it
    std::vector<std::uint32_t> nodes{};
    std::uint64_t times = 1;  ///< how many domains made it
};

/// Domains whose tasks have the same kinds, parents and edges, in the same order of creation, are
/// one part.
inline std::vector<graph_part> parts_of(const task_graph& graph) {
    std::vector<graph_part> domains;
    std::vector<std::uint32_t> place(graph.nodes.size());  // within its domain
    std::vector<std::vector<std::uint32_t>> shapes;
    auto edge = graph.edges.begin();
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        const task_graph::node& node = graph.nodes[i];
        if (node.domain >= domains.size()) {
            domains.resize(node.domain + 1);
            shapes.resize(node.domain + 1);
        }
        graph_part& its = domains[node.domain];
        std::vector<std::uint32_t>& shape = shapes[node.domain];
        place[i] = static_cast<std::uint32_t>(its.nodes.size());
        its.domain = node.domain;
        its.nodes.push_back(i);
        shape.push_back(node.kind);
        shape.push_back(node.parent != task_graph::k_none ? place[node.parent]
                                                          : task_graph::k_none);
        for (; edge != graph.edges.end() && edge->second == i; ++edge) {
            shape.push_back(place[edge->first]);
        }
        shape.push_back(task_graph::k_none);
    }
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    std::vector<graph_part> parts;
    for (std::size_t i = 0; i < domains.size(); ++i) {
        const auto [at, is_new] = known.try_emplace(std::move(shapes[i]), parts.size());
        if (is_new) {
            parts.push_back(std::move(domains[i]));
        } else {
            ++parts[at->second].times;
        }
    }
    return parts;
}

}  // namespace quern::trace::detail
