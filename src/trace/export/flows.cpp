// SPDX-License-Identifier: BSL-1.0
// Finds the piece in which a task was created: the last piece of its parent that had begun by then.
#include "export/flows.hpp"

#include <algorithm>
#include <tuple>

namespace quern::trace::detail {

flows::flows(const recording& run) : m_run(run) {
    std::uint32_t lane_number = 0;
    for (const lane& l : run.lanes) {
        std::uint32_t index = 0;
        for (const slice& s : l.slices) {
            if (!s.continued) {
                m_begun.push_back({s.task, s.begin_ns, lane_number, index});
            }
            ++index;
        }
        ++lane_number;
    }
    std::sort(m_begun.begin(), m_begun.end(), [](const begun& a, const begun& b) {
        return std::tie(a.task, a.at_ns) < std::tie(b.task, b.at_ns);
    });
    find_makers(run);
    find_edges(run.graph);
}

const flows::begun* flows::first_piece(std::uint64_t task) const {
    const auto at =
        std::lower_bound(m_begun.begin(), m_begun.end(), task,
                         [](const begun& b, std::uint64_t wanted) { return b.task < wanted; });
    return task != 0 && at != m_begun.end() && at->task == task ? &*at : nullptr;
}

const flows::begun* flows::last_piece(std::uint64_t task) const {
    const auto next =
        std::upper_bound(m_begun.begin(), m_begun.end(), task,
                         [](std::uint64_t wanted, const begun& b) { return wanted < b.task; });
    return task != 0 && next != m_begun.begin() && std::prev(next)->task == task ? &*std::prev(next)
                                                                                 : nullptr;
}

void flows::find_edges(const task_graph& graph) {
    std::vector<std::uint32_t> edges_of(graph.nodes.size());
    std::uint64_t number = 0;
    for (const auto& [from, to] : graph.edges) {
        const begun* const source = last_piece(graph.nodes[from].task);
        const begun* const target = first_piece(graph.nodes[to].task);
        if (source != nullptr && target != nullptr && edges_of[from]++ < k_most_made) {
            m_edges_from.push_back({source->lane, source->index, number});
            m_edges_to.push_back({target->lane, target->index, number});
            ++number;
        }
    }
    const auto by_slice = [](const edge_end& a, const edge_end& b) {
        return std::tie(a.lane, a.index, a.number) < std::tie(b.lane, b.index, b.number);
    };
    std::sort(m_edges_from.begin(), m_edges_from.end(), by_slice);
    std::sort(m_edges_to.begin(), m_edges_to.end(), by_slice);
}

/// An inlined task in the task that made it needs no arrow. One that another has made, or that this
/// one's end made ready, does.
bool flows::lies_within(const begun& inlined, const begun& maker, const recording& run) {
    const slice& outer = run.lanes[maker.lane].slices[maker.index];
    return maker.lane == inlined.lane && (outer.covered || outer.suspended);
}

void flows::find_makers(const recording& run) {
    for (const begun& each : m_begun) {
        const slice& s = run.lanes[each.lane].slices[each.index];
        if (!s.first || s.parent == 0) {
            continue;
        }
        const std::uint64_t at = s.ready_ns != 0 ? s.ready_ns : s.begin_ns;
        const auto later = std::upper_bound(
            m_begun.begin(), m_begun.end(), std::pair(s.parent, at),
            [](const auto& wanted, const begun& b) { return wanted < std::pair(b.task, b.at_ns); });
        if (later == m_begun.begin() || std::prev(later)->task != s.parent) {
            continue;
        }
        const begun& maker = *std::prev(later);
        if (!s.inlined || !lies_within(each, maker, run)) {
            m_made.push_back({maker.lane, maker.index, s.task});
        }
    }
    std::sort(m_made.begin(), m_made.end(), [](const made& a, const made& b) {
        return std::tie(a.lane, a.index, a.task) < std::tie(b.lane, b.index, b.task);
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_made.size(); ++i) {
        const bool is_full = kept >= k_most_made &&
                             m_made[kept - k_most_made].lane == m_made[i].lane &&
                             m_made[kept - k_most_made].index == m_made[i].index;
        if (!is_full) {
            m_made[kept++] = m_made[i];
        }
    }
    m_made.resize(kept);
    for (const made& each : m_made) {
        m_targets.push_back(each.task);
    }
    std::sort(m_targets.begin(), m_targets.end());
}

bool flows::has_pieces(std::uint64_t task) const {
    const auto first =
        std::lower_bound(m_begun.begin(), m_begun.end(), task,
                         [](const begun& b, std::uint64_t wanted) { return b.task < wanted; });
    return first != m_begun.end() && std::next(first) != m_begun.end() &&
           std::next(first)->task == task;
}

bool flows::is_target(std::size_t lane, std::size_t index) const {
    const slice& s = m_run.lanes[lane].slices[index];
    return s.first && std::binary_search(m_targets.begin(), m_targets.end(), s.task);
}

std::size_t flows::first_made(std::size_t lane, std::size_t index) const {
    const auto at =
        std::lower_bound(m_made.begin(), m_made.end(), std::pair(lane, index),
                         [](const made& m, const auto& wanted) {
                             return std::pair<std::size_t, std::size_t>(m.lane, m.index) < wanted;
                         });
    return static_cast<std::size_t>(at - m_made.begin());
}

}  // namespace quern::trace::detail
