// SPDX-License-Identifier: BSL-1.0
// The task tree for Graphviz: which site made how many tasks of which.
#include "export/dot_words.hpp"

#include <quern/trace/page.hpp>

#include <algorithm>
#include <set>

namespace quern::trace {

namespace {

constexpr std::size_t k_most_edges = 2000;

using detail::dot_words;

std::string node(const recording& run, std::uint32_t index) {
    const site& one = run.sites[index];
    const std::string where = one.location.empty() ? "" : "\\n" + dot_words(one.location);
    return "  s" + std::to_string(index) + " [label=\"" + dot_words(one.name) + where + "\\n" +
           detail::count_words(one.tasks, "task") + ", mean " +
           detail::duration_words(one.mean_ns()) + "\"];\n";
}

}  // namespace

std::string write_dot(const recording& run) {
    std::vector<spawn_count> edges;
    for (const spawn_count& edge : run.tree) {
        if (edge.parent < run.sites.size() && edge.child < run.sites.size()) {
            edges.push_back(edge);
        }
    }
    std::stable_sort(edges.begin(), edges.end(),
                     [](const spawn_count& a, const spawn_count& b) { return a.tasks > b.tasks; });
    const std::size_t left_out = edges.size() - std::min(edges.size(), k_most_edges);
    edges.resize(edges.size() - left_out);

    std::string text = "digraph tasks {\n  node [shape=box];\n";
    if (left_out != 0) {
        text += "  // " + std::to_string(left_out) + " edges with fewer tasks are left out\n";
    }
    std::set<std::uint32_t> nodes;
    for (const spawn_count& edge : edges) {
        nodes.insert(edge.parent);
        nodes.insert(edge.child);
    }
    for (const std::uint32_t index : nodes) {
        text += node(run, index);
    }
    for (const spawn_count& edge : edges) {
        text += "  s" + std::to_string(edge.parent) + " -> s" + std::to_string(edge.child) +
                " [label=\"" + detail::count_words(edge.tasks) + "\"];\n";
    }
    return text + "}\n";
}

}  // namespace quern::trace
