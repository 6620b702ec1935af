// SPDX-License-Identifier: BSL-1.0
// Constructs that share work among the members of a team: loops, sections, single.
#pragma once

#include "core/team.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quern::omp {

inline share& share_of(team& of, std::uint64_t construct) noexcept {
    return of.shares[of.size == 1 ? 0 : construct % k_shares];
}

/// A loop from `start` while below `end` (or above it, if `up` is false), as 64-bit numbers.
first_share describe_loop(bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step,
                          schedule_kind schedule, std::uint64_t chunk) noexcept;

void set_up(team& of, share& one, const first_share& as) noexcept;

/// The member comes to a construct. True: it is the first, which has set it up.
bool enter_share(member& here, const first_share& as) noexcept;
void leave_share(member& here) noexcept;

/// What the members of a construct share beside its iterations. Ends when all have left it.
struct shared_memory {
    std::uintptr_t* reductions = nullptr;  ///< those of the first member, see task_reductions.hpp
    std::unique_ptr<std::byte[]> block;    ///< zeros at first
};
/// As enter_share(), for a construct with reductions by tasks, which begin a taskgroup on each
/// member, or with memory: of so many bytes as `*memory` says, which becomes its address.
bool enter_share_with_memory(member& here, const first_share& as, std::uintptr_t* reductions,
                             void** memory);

/// The next iterations for the member, as values of the loop variable. False: none is left.
bool next_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept;
/// The same for a loop with ordered regions.
bool next_ordered_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept;
/// Waits until all iterations before the member's chunk have passed their ordered regions.
void begin_ordered(member& here) noexcept;
/// Which iterations of a nest of loops with ordered(n) have told that they are done. The extents
/// are those of the loops, whose iterations are counted from 0.
class iteration_marks {
public:
    iteration_marks(unsigned loops, const std::uint64_t* extents);

    unsigned loops() const noexcept { return static_cast<unsigned>(m_extents.size()); }
    void set(const std::uint64_t* at) noexcept;
    bool is_set(const std::uint64_t* at) const noexcept;

private:
    std::uint64_t number_of(const std::uint64_t* at) const noexcept;

    std::vector<std::uint64_t> m_extents;
    std::unique_ptr<std::atomic<std::uint64_t>[]> m_bits;
};

/// As enter_share(), for such a nest: the loop is its outermost one. In a team of one there are no
/// marks, since iterations are in order.
void enter_nest(member& here, const first_share& as, unsigned loops, const std::uint64_t* extents,
                std::uintptr_t* reductions = nullptr, void** memory = nullptr);

/// The number of the next section, from 1; 0: none is left.
unsigned next_section(member& here) noexcept;

}  // namespace quern::omp
