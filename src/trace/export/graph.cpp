// SPDX-License-Identifier: BSL-1.0
// The graph of dependent tasks for Graphviz: task by task, or kind by kind when there are too many.
#include "analyse/graph_parts.hpp"
#include "analyse/words.hpp"
#include "export/dot_words.hpp"

#include <quern/trace/dependence_graph.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace quern::trace {

namespace {

constexpr std::size_t k_most_graph_nodes = 2000;
constexpr std::size_t k_most_kind_edges = 2000;  // between kinds

/// Light enough for black words.
constexpr std::array<const char*, 8> k_kind_colours = {"#9ecae9", "#ffbf79", "#88d27a", "#e9a8c8",
                                                       "#f2e48a", "#c9b3e6", "#d8b5a5", "#bab0ac"};

const char* kind_colour(std::uint32_t kind) noexcept {
    return k_kind_colours[kind % k_kind_colours.size()];
}

std::string graph_node_name(std::uint32_t node) { return "t" + std::to_string(node + 1); }

void add_graph_node(std::string& text, const task_graph& graph, std::uint32_t index,
                    const std::string& indent) {
    const task_graph::node& node = graph.nodes[index];
    const task_graph::kind& kind = graph.kinds[node.kind];
    text +=
        indent + graph_node_name(index) + " [label=\"" + detail::dot_words(kind.name) + "\\n" +
        std::to_string(index + 1) + "\", fillcolor=\"" + kind_colour(node.kind) + "\"" +
        (kind.location.empty() ? "" : ", tooltip=\"" + detail::dot_words(kind.location) + "\"") +
        "];\n";
}

std::string tasks_one_by_one(const task_graph& graph,
                             const std::vector<detail::graph_part>& parts) {
    std::string text;
    std::vector<bool> is_shown(graph.nodes.size());
    std::vector<bool> is_first(graph.nodes.size(), true);
    for (const auto& [from, to] : graph.edges) {
        is_first[to] = is_first[to] && graph.nodes[from].parent != graph.nodes[to].parent;
    }
    for (const detail::graph_part& part : parts) {
        const bool is_named = parts.size() > 1 || part.times > 1;
        if (is_named) {
            text += "  subgraph cluster_" + std::to_string(part.domain + 1) + " {\n    label=\"" +
                    (part.times == 1
                         ? "a domain"
                         : detail::count_words(part.times, "domain") + " with this graph of " +
                               detail::count_words(part.nodes.size(), "task")) +
                    "\";\n";
        }
        for (const std::uint32_t each : part.nodes) {
            is_shown[each] = true;
            add_graph_node(text, graph, each, is_named ? "    " : "  ");
        }
        text += is_named ? "  }\n" : "";
    }
    for (const auto& [from, to] : graph.edges) {
        if (is_shown[to]) {
            text += "  " + graph_node_name(from) + " -> " + graph_node_name(to) + ";\n";
        }
    }
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        const std::uint32_t parent = graph.nodes[i].parent;
        if (is_shown[i] && is_first[i] && parent != task_graph::k_none) {
            text +=
                "  " + graph_node_name(parent) + " -> " + graph_node_name(i) + " [style=dashed];\n";
        }
    }
    return text;
}

std::string kinds_alone(const task_graph& graph) {
    std::string text = "  // " + detail::count_words(graph.tasks, "task") +
                       ": a node for each place that makes them\n";
    for (std::uint32_t i = 0; i < graph.kinds.size(); ++i) {
        const task_graph::kind& kind = graph.kinds[i];
        text += "  k" + std::to_string(i + 1) + " [label=\"" + detail::dot_words(kind.name) +
                (kind.location.empty() ? "" : "\\n" + detail::dot_words(kind.location)) + "\\n" +
                detail::count_words(kind.tasks, "task") + "\", fillcolor=\"" + kind_colour(i) +
                "\"];\n";
    }
    std::vector<task_graph::kind_edge> edges = graph.kind_edges;
    std::stable_sort(edges.begin(), edges.end(),
                     [](const auto& a, const auto& b) { return a.edges > b.edges; });
    if (edges.size() > k_most_kind_edges) {
        text += "  // " + std::to_string(edges.size() - k_most_kind_edges) +
                " edges with fewer tasks are left out\n";
        edges.resize(k_most_kind_edges);
    }
    for (const task_graph::kind_edge& each : edges) {
        text += "  k" + std::to_string(each.from + 1) + " -> k" + std::to_string(each.to + 1) +
                " [label=\"" + detail::count_words(each.edges) + "\"];\n";
    }
    return text;
}

/// What is not drawn.
std::string missing_parts(const task_graph& graph) {
    std::string words;
    if (graph.replayed > 0) {
        words += detail::count_words(graph.replayed, "further task") +
                 " of replayed steps: each step has the graph of the recorded one\\n";
    }
    return words.empty() ? words : "  label=\"" + words + "\";\n";
}

}  // namespace

std::string write_graph(const task_graph& graph) {
    std::string text = "digraph dependences {\n  node [shape=box, style=\"filled,rounded\"];\n";
    const std::vector<detail::graph_part> parts = detail::parts_of(graph);
    std::size_t nodes = 0;
    for (const detail::graph_part& each : parts) {
        nodes += each.nodes.size();
    }
    const bool is_whole = graph.tasks == graph.nodes.size() && nodes <= k_most_graph_nodes;
    text += missing_parts(graph);
    return text + (is_whole ? tasks_one_by_one(graph, parts) : kinds_alone(graph)) + "}\n";
}

}  // namespace quern::trace
