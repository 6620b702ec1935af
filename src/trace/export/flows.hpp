// SPDX-License-Identifier: BSL-1.0
// Slices connected in a drawing: the pieces of one task, and the piece that created a task with its
// first piece.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern::trace::detail {

class flows {
public:
    /// Maximum number of created tasks connected with one piece: more arrows could not be told
    /// apart. (guessed)
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

    void find_makers(const recording& run);
    std::size_t first_made(std::size_t lane, std::size_t index) const;

    std::vector<begun> m_begun;            ///< by task, then time; without continued pieces
    std::vector<made> m_made;              ///< by slice
    std::vector<std::uint64_t> m_targets;  ///< tasks, sorted
    const recording& m_run;
};

}  // namespace quern::trace::detail
