// SPDX-License-Identifier: BSL-1.0
// Equal domains are given once; a graph that is too large to be drawn is given only by its kinds.
#include "page/graph.hpp"

#include "analyse/graph_parts.hpp"

#include <quern/trace/dependence_graph.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_nodes_drawn = 400;  // what fits a page and can be told apart (guessed)
constexpr std::size_t k_most_kinds_drawn = 24;
constexpr std::size_t k_most_edges_drawn = 100;  // between kinds

class graph_writer {
public:
    graph_writer(json& out, const recording& run, const page_sites& sites)
        : m_out(out), m_run(run), m_graph(run.graph), m_sites(sites) {}

    void write() {
        const dependence_chain chain = dependence_chain_of(m_run);
        m_out.open('{', "graph");
        m_out.fields("tasks", m_graph.tasks, "edges", edges(), "replayed", m_graph.replayed,
                     "chain", chain.total_ns, "work", chain.work_ns, "possible", chain.possible(),
                     "used", chain.used());
        write_kinds(chain);
        write_kind_edges();
        write_nodes(chain);
        m_out.close();
    }

private:
    std::uint64_t edges() const {
        std::uint64_t sum = 0;
        for (const task_graph::kind_edge& each : m_graph.kind_edges) {
            sum += each.edges;
        }
        return sum;
    }

    std::uint8_t site_of(const task_graph::kind& kind) const {
        for (std::size_t i = 0; i < m_run.sites.size(); ++i) {
            if (m_run.sites[i].name == kind.name && m_run.sites[i].location == kind.location) {
                return m_sites.place(i);
            }
        }
        return k_no_site;
    }

    void write_kinds(const dependence_chain& chain) {
        m_out.open('[', "kinds");
        for (std::size_t i = 0; i < std::min(m_graph.kinds.size(), k_most_kinds_drawn); ++i) {
            const task_graph::kind& kind = m_graph.kinds[i];
            m_out.open('{').fields("name", kind.name, "place", kind.location, "tasks", kind.tasks,
                                   "site", site_of(kind), "chain",
                                   i < chain.kind_ns.size() ? chain.kind_ns[i] : 0.0);
            m_out.close();
        }
        m_out.close().field("more_kinds", m_graph.kinds.size() -
                                              std::min(m_graph.kinds.size(), k_most_kinds_drawn));
    }

    void write_kind_edges() {
        std::vector<task_graph::kind_edge> all = m_graph.kind_edges;
        std::erase_if(all,
                      [](const auto& e) { return std::max(e.from, e.to) >= k_most_kinds_drawn; });
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.edges > b.edges; });
        m_out.open('[', "kind_edges");
        for (std::size_t i = 0; i < std::min(all.size(), k_most_edges_drawn); ++i) {
            m_out.open('[').item(all[i].from).item(all[i].to).item(all[i].edges).close();
        }
        m_out.close();
    }

    /// Nodes as [kind, ns, whether it is of the longest chain, parent or -1], edges by their places
    /// among these.
    void write_nodes(const dependence_chain& chain) {
        const std::vector<graph_part> parts = parts_of(m_graph);
        std::vector<std::uint32_t> shown;
        std::vector<std::uint64_t> times;
        for (const graph_part& each : parts) {
            shown.insert(shown.end(), each.nodes.begin(), each.nodes.end());
            times.push_back(each.times);
        }
        const bool is_drawn = m_graph.tasks == m_graph.nodes.size() &&
                              shown.size() <= k_most_nodes_drawn &&
                              m_graph.kinds.size() <= k_most_kinds_drawn;
        if (!is_drawn) {
            shown.clear();
            times.clear();
        }
        std::unordered_map<std::uint32_t, std::uint32_t> places;
        for (const std::uint32_t each : shown) {
            places.emplace(each, static_cast<std::uint32_t>(places.size()));
        }
        m_out.list("domains", times).open('[', "nodes");
        for (const std::uint32_t each : shown) {
            write_node(each, chain, places);
        }
        m_out.close().open('[', "arrows");
        for (const auto& [from, to] : m_graph.edges) {
            if (places.contains(from) && places.contains(to)) {
                m_out.item(places.at(from)).item(places.at(to));
            }
        }
        m_out.close();
    }

    void write_node(std::uint32_t index, const dependence_chain& chain,
                    const std::unordered_map<std::uint32_t, std::uint32_t>& places) {
        const task_graph::node& node = m_graph.nodes[index];
        const bool is_in_chain =
            chain.total_ns > 0 &&
            std::find(chain.nodes.begin(), chain.nodes.end(), index) != chain.nodes.end();
        const auto parent = places.find(node.parent);
        m_out.open('[').item(node.kind).item(time_of(node.task)).item(is_in_chain ? 1 : 0);
        m_out.item(parent != places.end() ? static_cast<std::int64_t>(parent->second) : -1).close();
    }

    double time_of(std::uint64_t task) {
        if (!m_times) {
            m_times.emplace();
            for (const lane& each : m_run.lanes) {
                for (const slice& piece : each.slices) {
                    (*m_times)[piece.task] += static_cast<double>(piece.end_ns - piece.begin_ns);
                }
            }
        }
        const auto at = m_times->find(task);
        return at != m_times->end() ? at->second : 0;
    }

    json& m_out;
    const recording& m_run;
    const task_graph& m_graph;
    const page_sites& m_sites;
    std::optional<std::unordered_map<std::uint64_t, double>> m_times{};
};

}  // namespace

void write_graph_data(json& out, const recording& run, const page_sites& sites) {
    if (run.graph.tasks != 0) {
        graph_writer(out, run, sites).write();
    }
}

}  // namespace quern::trace::detail
