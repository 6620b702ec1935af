// SPDX-License-Identifier: BSL-1.0
// The longest chain of dependent tasks. Edges lead from earlier to later nodes, and children come
// after their parent, so one pass over the groups of siblings, the innermost first, finds it.
#include <quern/trace/recording.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::trace {

namespace {

using node_index = std::uint32_t;

struct node_time {
    double ns = 0;
    std::uint64_t begin_ns = ~std::uint64_t{0};
    std::uint64_t end_ns = 0;
};

/// Of each node; empty if pieces are missing.
std::vector<node_time> node_times_of(const recording& run) {
    std::unordered_map<std::uint64_t, node_index> nodes;
    for (node_index i = 0; i < run.graph.nodes.size(); ++i) {
        if (run.graph.nodes[i].task != 0) {
            nodes.emplace(run.graph.nodes[i].task, i);
        }
    }
    std::vector<node_time> times(run.graph.nodes.size());
    for (const lane& each : run.lanes) {
        if (each.dropped != 0) {
            return {};
        }
        for (const slice& piece : each.slices) {
            const auto at = nodes.find(piece.task);
            if (at != nodes.end()) {
                node_time& time = times[at->second];
                time.ns += static_cast<double>(piece.end_ns - piece.begin_ns);
                time.begin_ns = std::min(time.begin_ns, piece.begin_ns);
                time.end_ns = std::max(time.end_ns, piece.end_ns);
            }
        }
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (run.graph.nodes[i].task != 0 && times[i].begin_ns > times[i].end_ns) {
            return {};  // of a sample
        }
    }
    return times;
}

/// A chain that ends with a node.
struct chain_end {
    double total_ns = 0;                    ///< with the node
    node_index from = task_graph::k_none;   ///< the node before it
    node_index inner = task_graph::k_none;  ///< the last node of the longest chain of its children
};

class chain_search {
public:
    chain_search(const task_graph& graph, const std::vector<node_time>& times)
        : m_graph(graph), m_times(times), m_ends(graph.nodes.size()) {
        std::map<node_index, std::vector<node_index>, std::greater<>> siblings;
        for (node_index i = 0; i < graph.nodes.size(); ++i) {
            const task_graph::node& each = graph.nodes[i];
            if (each.parent != task_graph::k_none) {
                siblings[each.parent].push_back(i);
            }
        }
        for (const auto& [parent, children] : siblings) {
            m_ends[parent].inner = longest_of(children);
        }
    }

    /// The last node of the longest chain of each outermost domain.
    std::vector<node_index> lasts() {
        std::vector<std::vector<node_index>> domains;
        for (node_index i = 0; i < m_graph.nodes.size(); ++i) {
            const task_graph::node& each = m_graph.nodes[i];
            domains.resize(std::max<std::size_t>(domains.size(), each.domain + 1));
            if (each.parent == task_graph::k_none) {
                domains[each.domain].push_back(i);
            }
        }
        std::vector<node_index> found;
        found.reserve(domains.size());
        for (const std::vector<node_index>& each : domains) {
            found.push_back(each.empty() ? task_graph::k_none : longest_of(each));
        }
        return found;
    }

    double length_of(node_index last) const { return m_ends[last].total_ns; }

    /// Adds the chain that ends there, in order.
    void add(node_index last, dependence_chain& to) const {
        to.total_ns += length_of(last);
        const auto before = static_cast<std::ptrdiff_t>(to.nodes.size());
        std::vector<node_index> inner;
        for (node_index at = last; at != task_graph::k_none; at = m_ends[at].from) {
            to.nodes.push_back(at);
            add_node(at, to, inner);
        }
        std::reverse(to.nodes.begin() + before, to.nodes.end());
        while (!inner.empty()) {
            node_index at = inner.back();
            inner.pop_back();
            for (; at != task_graph::k_none; at = m_ends[at].from) {
                add_node(at, to, inner);
            }
        }
    }

private:
    /// Requires: the children of each have been looked at.
    node_index longest_of(const std::vector<node_index>& group) {
        node_index longest = group.front();
        for (const node_index each : group) {
            chain_end& end = m_ends[each];
            for (auto at = first_edge_to(each); at != m_graph.edges.end() && at->second == each;
                 ++at) {
                if (m_ends[at->first].total_ns > end.total_ns) {
                    end.total_ns = m_ends[at->first].total_ns;
                    end.from = at->first;
                }
            }
            end.total_ns += m_times[each].ns;
            if (end.inner != task_graph::k_none) {
                end.total_ns += m_ends[end.inner].total_ns;
            }
            longest = end.total_ns > m_ends[longest].total_ns ? each : longest;
        }
        return longest;
    }

    std::vector<std::pair<node_index, node_index>>::const_iterator first_edge_to(
        node_index node) const {
        return std::lower_bound(m_graph.edges.begin(), m_graph.edges.end(), node,
                                [](const auto& edge, node_index to) { return edge.second < to; });
    }

    void add_node(node_index at, dependence_chain& to, std::vector<node_index>& inner) const {
        to.kind_ns[m_graph.nodes[at].kind] += m_times[at].ns;
        if (m_ends[at].inner != task_graph::k_none) {
            inner.push_back(m_ends[at].inner);
        }
    }

    const task_graph& m_graph;
    const std::vector<node_time>& m_times;
    std::vector<chain_end> m_ends;
};

/// The time of an outermost domain, from its first task to its last.
struct domain_time {
    std::uint64_t begin_ns = ~std::uint64_t{0};
    std::uint64_t end_ns = 0;
    node_index last = task_graph::k_none;
};

std::vector<domain_time> domain_times_of(const task_graph& graph,
                                         const std::vector<node_time>& times,
                                         const std::vector<node_index>& lasts) {
    std::vector<domain_time> all(lasts.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        domain_time& its = all[graph.nodes[i].domain];
        its.begin_ns = std::min(its.begin_ns, times[i].begin_ns);
        its.end_ns = std::max(its.end_ns, times[i].end_ns);
    }
    for (std::size_t i = 0; i < lasts.size(); ++i) {
        all[i].last = lasts[i];
    }
    std::erase_if(all, [](const domain_time& each) {
        return each.last == task_graph::k_none || each.end_ns <= each.begin_ns;
    });
    std::sort(all.begin(), all.end(),
              [](const domain_time& a, const domain_time& b) { return a.begin_ns < b.begin_ns; });
    return all;
}

}  // namespace

dependence_chain dependence_chain_of(const recording& run) {
    const std::vector<node_time> times = node_times_of(run);
    if (times.empty() || run.graph.tasks != run.graph.nodes.size()) {
        return {};
    }
    dependence_chain chain{.kind_ns = std::vector<double>(run.graph.kinds.size())};
    for (const node_time& each : times) {
        chain.work_ns += each.ns;
    }
    chain_search longest(run.graph, times);
    const std::vector<domain_time> all = domain_times_of(run.graph, times, longest.lasts());
    for (auto first = all.begin(); first != all.end();) {
        auto next = first;
        std::uint64_t end_ns = first->end_ns;
        node_index last = first->last;
        for (; next != all.end() && next->begin_ns < end_ns; ++next) {
            end_ns = std::max(end_ns, next->end_ns);
            last = longest.length_of(next->last) > longest.length_of(last) ? next->last : last;
        }
        longest.add(last, chain);
        chain.span_ns += static_cast<double>(end_ns - first->begin_ns);
        first = next;
    }
    return chain;
}

}  // namespace quern::trace
