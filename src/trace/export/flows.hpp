// SPDX-License-Identifier: BSL-1.0
// Slices connected in a drawing: the pieces of one task, the piece that created a task with its
// first piece, and the last piece of a task with the first of one that depends on it.
#pragma once

#include <quern/trace/recording.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quern::trace::detail {

class flows {
public:
    /// Maximum number of created or dependent tasks connected with one piece: more arrows could not
    /// be told apart. (guessed)
    static constexpr std::size_t k_most_made = 100;

    explicit flows(const recording& run);

    /// Whether the task has more than one piece.
    bool has_pieces(std::uint64_t task) const;

    /// Whether the slice is the first of a task and connected with the creating piece.
    bool is_target(std::size_t lane, std::size_t index) const;

    /// Calls visit(task) for each connected task that the slice created.
    template <class Visit>
    void for_each_made(std::size_t lane, std::size_t index, Visit visit) const {
        for (std::size_t i = first_made(lane, index); i < m_made.size(); ++i) {
            if (m_made[i].lane != lane || m_made[i].index != index) {
                return;
            }
            visit(m_made[i].task);
        }
    }

    /// Calls visit(number) for each dependence that leads from the slice, or to it; the same number
    /// at both ends.
    template <class Visit>
    void for_each_edge_from(std::size_t lane, std::size_t index, Visit visit) const {
        for_each_end(m_edges_from, lane, index, visit);
    }
    template <class Visit>
    void for_each_edge_to(std::size_t lane, std::size_t index, Visit visit) const {
        for_each_end(m_edges_to, lane, index, visit);
    }

private:
    struct begun {
        std::uint64_t task;
        std::uint64_t at_ns;
        std::uint32_t lane;
        std::uint32_t index;
    };
    struct made {
        std::uint32_t lane;  ///< of the creating slice
        std::uint32_t index;
        std::uint64_t task;
    };

    struct edge_end {
        std::uint32_t lane;
        std::uint32_t index;
        std::uint64_t number;
    };

    template <class Visit>
    static void for_each_end(const std::vector<edge_end>& ends, std::size_t lane, std::size_t index,
                             Visit visit) {
        auto at = std::lower_bound(ends.begin(), ends.end(), std::pair(lane, index),
                                   [](const edge_end& e, const auto& wanted) {
                                       return std::pair<std::size_t, std::size_t>(e.lane, e.index) <
                                              wanted;
                                   });
        for (; at != ends.end() && at->lane == lane && at->index == index; ++at) {
            visit(at->number);
        }
    }

    static bool lies_within(const begun& inlined, const begun& maker, const recording& run);
    void find_makers(const recording& run);
    void find_edges(const task_graph& graph);
    const begun* first_piece(std::uint64_t task) const;
    const begun* last_piece(std::uint64_t task) const;
    std::size_t first_made(std::size_t lane, std::size_t index) const;

    std::vector<begun> m_begun;            ///< by task, then time; without continued pieces
    std::vector<made> m_made;              ///< by slice
    std::vector<std::uint64_t> m_targets;  ///< tasks, sorted
    std::vector<edge_end> m_edges_from;    ///< by slice
    std::vector<edge_end> m_edges_to;      ///< by slice
    const recording& m_run;
};

}  // namespace quern::trace::detail
