// SPDX-License-Identifier: BSL-1.0
// The longest chain of dependent tasks. Edges lead from earlier to later nodes, but a task is
// complete after its children, which may have been made after its successors: so the moments of
// tasks are found depth first.
#include <quern/trace/recording.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
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

/// A moment of a task: when its function begins, or when it and its children have ended.
struct moment {
    node_index node = task_graph::k_none;
    bool is_end = false;
};

/// When each task would begin and be complete on any number of workers. A task begins when the
/// tasks before it are complete, a child also when its parent's function has ended.
class chain_search {
public:
    chain_search(const task_graph& graph, const std::vector<node_time>& times)
        : m_graph(graph), m_times(times), m_known(graph.nodes.size()) {
        std::vector<node_index> last_child(graph.nodes.size(), task_graph::k_none);
        for (node_index i = 0; i < graph.nodes.size(); ++i) {
            const node_index parent = graph.nodes[i].parent;
            if (parent != task_graph::k_none) {
                m_known[i].sibling = std::exchange(last_child[parent], i);
            }
        }
        for (node_index i = 0; i < graph.nodes.size(); ++i) {
            m_known[i].child = last_child[i];
        }
    }

    /// The last node of the longest chain of each outermost domain.
    std::vector<node_index> lasts() {
        std::vector<node_index> found;
        for (node_index i = 0; i < m_graph.nodes.size(); ++i) {
            const task_graph::node& each = m_graph.nodes[i];
            found.resize(std::max<std::size_t>(found.size(), each.domain + 1), task_graph::k_none);
            if (each.parent == task_graph::k_none) {
                find({i, true});
                node_index& last = found[each.domain];
                last = last == task_graph::k_none || length_of(i) > length_of(last) ? i : last;
            }
        }
        return found;
    }

    double length_of(node_index last) const { return m_known[last].end_ns; }

    /// Adds the chain that ends there, in order.
    void add(node_index last, dependence_chain& to) const {
        to.total_ns += length_of(last);
        std::vector<node_index> path;
        for (moment at{last, true}; at.node != task_graph::k_none;) {
            const known& its = m_known[at.node];
            if (at.is_end && its.last_child != task_graph::k_none) {
                at.node = its.last_child;
                continue;
            }
            path.push_back(at.node);
            to.kind_ns[m_graph.nodes[at.node].kind] += m_times[at.node].ns;
            at = its.before;
        }
        const std::unordered_set<node_index> all(path.begin(), path.end());
        for (auto each = path.rbegin(); each != path.rend(); ++each) {
            if (!all.contains(m_graph.nodes[*each].parent)) {
                to.nodes.push_back(*each);
            }
        }
    }

private:
    struct known {
        node_index child = task_graph::k_none;  ///< the last one made, and of it the one before
        node_index sibling = task_graph::k_none;
        double begin_ns = 0;
        double end_ns = 0;
        moment before{};                             ///< what it begins after
        node_index last_child = task_graph::k_none;  ///< that ends after its own function
        bool is_visited[2] = {false, false};         ///< its begin, its end
    };

    /// Depth first. Nesting is not limited by a stack.
    void find(moment wanted) {
        std::vector<std::pair<moment, bool>> open{{wanted, false}};
        while (!open.empty()) {
            const auto [at, has_all] = open.back();
            open.pop_back();
            if (has_all) {
                at.is_end ? find_end(at.node) : find_begin(at.node);
            } else if (!std::exchange(m_known[at.node].is_visited[at.is_end ? 1 : 0], true)) {
                open.emplace_back(at, true);
                add_needed(at, open);
            }
        }
    }

    void add_needed(moment at, std::vector<std::pair<moment, bool>>& open) const {
        if (at.is_end) {
            open.push_back({{at.node, false}, false});
            for (node_index child = m_known[at.node].child; child != task_graph::k_none;
                 child = m_known[child].sibling) {
                open.push_back({{child, true}, false});
            }
            return;
        }
        for (auto edge = first_edge_to(at.node); is_edge_to(edge, at.node); ++edge) {
            open.push_back({{edge->first, true}, false});
        }
        if (m_graph.nodes[at.node].parent != task_graph::k_none) {
            open.push_back({{m_graph.nodes[at.node].parent, false}, false});
        }
    }

    void find_begin(node_index node) {
        known& its = m_known[node];
        const node_index parent = m_graph.nodes[node].parent;
        if (parent != task_graph::k_none) {
            its.begin_ns = m_known[parent].begin_ns + m_times[parent].ns;
            its.before = {parent, false};
        }
        for (auto edge = first_edge_to(node); is_edge_to(edge, node); ++edge) {
            if (m_known[edge->first].end_ns > its.begin_ns) {
                its.begin_ns = m_known[edge->first].end_ns;
                its.before = {edge->first, true};
            }
        }
    }

    void find_end(node_index node) {
        known& its = m_known[node];
        its.end_ns = its.begin_ns + m_times[node].ns;
        for (node_index child = its.child; child != task_graph::k_none;
             child = m_known[child].sibling) {
            if (m_known[child].end_ns > its.end_ns) {
                its.end_ns = m_known[child].end_ns;
                its.last_child = child;
            }
        }
    }

    using edge_at = std::vector<std::pair<node_index, node_index>>::const_iterator;
    edge_at first_edge_to(node_index node) const {
        return std::lower_bound(m_graph.edges.begin(), m_graph.edges.end(), node,
                                [](const auto& edge, node_index to) { return edge.second < to; });
    }
    bool is_edge_to(edge_at edge, node_index node) const {
        return edge != m_graph.edges.end() && edge->second == node;
    }

    const task_graph& m_graph;
    const std::vector<node_time>& m_times;
    std::vector<known> m_known;
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
