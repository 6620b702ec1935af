// SPDX-License-Identifier: BSL-1.0
// Teams, their members, and tasks: the state that all of the layer shares. Protocols: ../README.md.
// Knows no ABI: the entry points of each compiler are in abi/.
#pragma once

#include "core/ranges.hpp"
#include "core/settings.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/yield_budget.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {
class worker;
class pool;
}  // namespace quern::detail

namespace quern::omp {

struct member;
struct team;
class access_table;
struct deferred_task;
class member_stacks;

/// A copy that a task has made because it changed a value; freed at the end of the region.
struct changed_values final : control_values {
    changed_values* next = nullptr;
};

/// A taskgroup: how many of its tasks have not ended. Lies where the group was begun.
struct task_group {
    std::atomic<std::uint64_t> left{0};
    task_group* outer = nullptr;
    std::uintptr_t* described_reductions = nullptr;  ///< of gcc's programs, the innermost first
    void* reductions = nullptr;  ///< of clang's programs, see abi/kmpc_reductions.cpp
    std::atomic<bool> is_cancelled{false};
    bool is_of_construct = false;  ///< made for the reduction of a construct, not by `taskgroup`
};

/// What a running task is to its children: implicit tasks (one for each member of a team) and
/// explicit ones. `word` has the children that have not ended in its low half, and in its high half
/// who needs the object: itself until it has ended, and each child object.
struct task {
    static constexpr std::uint64_t k_self = std::uint64_t{1} << 32;
    static constexpr std::uint64_t k_child = k_self + 1;

    task* parent = nullptr;
    task_group* group = nullptr;  ///< the innermost one, in which children are made
    const control_values* values = nullptr;
    access_table* accesses = nullptr;  ///< of its children with dependences, or null
    std::atomic<std::uint64_t> word{k_self};
    bool is_explicit = false;
    bool is_final = false;

    bool has_children() const noexcept {
        return static_cast<std::uint32_t>(word.load(std::memory_order_acquire)) != 0;
    }
    /// None of its descendants is left.
    bool is_alone() const noexcept { return word.load(std::memory_order_acquire) == k_self; }
    bool descends_from(const task& ancestor) const noexcept {
        const task* each = this;
        while (each != nullptr && each != &ancestor) {
            each = each->parent;
        }
        return each != nullptr;
    }
};

/// One construct that shares work among the members: a loop, sections, or a single. A team has
/// several, so that a member may be ahead of others by some constructs (nowait).
struct alignas(detail::k_cache_line) share {
    detail::spin_lock lock;
    std::uint64_t construct = 0;  ///< the number of the construct that it serves, from 1
    unsigned left = 0;            ///< members that have left it
    schedule_kind schedule = schedule_kind::dynamic;
    bool may_overflow = false;
    bool is_divided = false;  ///< each member has a range of chunks of its own: member::ranges
    std::uint64_t start = 0;  ///< iteration i has the value start + i * step, modulo 2^64
    std::uint64_t step = 0;
    std::uint64_t end = 0;
    std::uint64_t count = 0;  ///< of iterations, or sections
    std::uint64_t chunk = 1;
    std::uint64_t multiple = 1;
    void* copied = nullptr;                              ///< copyprivate
    std::atomic<class iteration_marks*> marks{nullptr};  ///< of a loop with ordered(n)
    std::atomic<struct shared_memory*> memory{nullptr};  ///< see enter_share_with_memory()
    alignas(detail::k_cache_line) std::atomic<std::uint64_t> taken{0};
    alignas(detail::k_cache_line) std::atomic<std::uint64_t> turn{0};  ///< ordered: whose it is
};

inline constexpr std::uint64_t k_shares = 8;

struct alignas(detail::k_cache_line) member {
    task* current = nullptr;
    team* of = nullptr;
    unsigned number = 0;
    detail::worker* at = nullptr;  ///< null in a team of one
    task implicit;
    share* sharing = nullptr;      ///< the construct in which it is
    std::uint64_t constructs = 0;  ///< begun in this region
    std::uint64_t trip = 0;        ///< of a loop with static schedule
    std::uint64_t first = 0;       ///< of its present chunk, for ordered
    std::uint64_t last = 0;
    std::uint32_t batch = 1;               ///< of a divided loop: chunks that it takes next
    std::uint32_t batch_limit = 1;         ///< of what was left in its range
    std::uint64_t batch_time = 0;          ///< when it took the last ones
    bool has_ordered = false;              ///< its loop has ordered regions; in code of clang
    changed_values* own_values = nullptr;  ///< copies made in this region
    member* outer = nullptr;               ///< what this thread was before
    std::uint64_t random = 88172645463325252U;
    detail::yield_budget yields;
    std::uint64_t last_request = 0;   ///< when it asked other members for tasks
    const void* next_site = nullptr;  ///< where it makes the next region; null: at its body
    member_stacks* stacks = nullptr;  ///< of its tasks; null: they run on its own
    /// Where it waits between regions: the number of the region that it may begin.
    alignas(detail::k_cache_line) std::atomic<std::uint32_t> region{0};
    std::atomic<bool> sleeps{false};
    std::atomic<std::uint32_t> served{0};  ///< the region after which it sleeps
    /// Of loops that are divided, one for each share.
    alignas(detail::k_cache_line) chunk_range<detail::std_atomics> ranges[k_shares];
};

struct team {
    unsigned size = 1;
    unsigned level = 0;         ///< regions around, this one too
    unsigned active_level = 0;  ///< the same of more than one member
    unsigned league_size = 1;   ///< of a thread's first team: see abi/league.hpp
    unsigned league_number = 0;
    member* members = nullptr;
    member* creator = nullptr;  ///< the member that met the region; null in a thread's first team
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    const void* site = nullptr;       ///< of the region, for reports
    detail::pool* workers = nullptr;  ///< null in a team of one
    share* shares = nullptr;          ///< k_shares, or one in a team of one
    /// How long a member spins before it yields, and yields before it sleeps. Members that wait for
    /// a region read them while the next one is prepared.
    std::atomic<unsigned> pauses{0};
    std::atomic<unsigned> yields{0};
    alignas(detail::k_cache_line) std::atomic<std::uint32_t> arrived{0};
    alignas(detail::k_cache_line) std::atomic<std::uint32_t> epoch{0};  ///< barriers passed
    std::atomic<std::uint32_t> sleepers{0};
    std::atomic<bool> is_cancelled{false};       ///< the region; see core/cancellation.hpp
    std::atomic<bool> work_is_cancelled{false};  ///< the present loop or sections
    std::atomic<std::uint32_t> ended{0};  ///< members at the end, of all regions, if one may be
    std::uint32_t ended_target = 0;       ///< cancelled; and what it is when this one has ended
    /// Tasks whose events threads outside the team have fulfilled; linked by their argument.
    std::atomic<deferred_task*> fulfilled{nullptr};
};

extern constinit thread_local member* tls_member;

QUERN_COLD member& first_member_of_thread();

/// The member that the calling thread is; outside of all regions that of a team of one.
inline member& this_member() noexcept {
    member* const here = tls_member;
    return here != nullptr ? *here : first_member_of_thread();
}

/// How many members a region asks for, where the construct says `wanted` (0: does not say). It gets
/// fewer where OMP_THREAD_LIMIT leaves fewer.
unsigned size_of_region(member& here, unsigned wanted) noexcept;

/// A loop or sections with which a region begins: its members are within it from the start.
struct first_share {
    schedule_kind schedule = schedule_kind::dynamic;
    std::uint64_t start = 0;
    std::uint64_t step = 0;  ///< 0: sections, or nothing
    std::uint64_t end = 0;
    std::uint64_t count = 0;
    std::uint64_t chunk = 1;
    bool keeps_order = true;     ///< no member gets an iteration before one that it has had
    std::uint64_t multiple = 1;  ///< guided: chunks but the last one are multiples of it
};

/// Runs a region: `body(argument)` on each member; the caller is member 0. Returns when all members
/// and their tasks have ended.
void run_region(void (*body)(void*), void* argument, unsigned size,
                const first_share* begins_with = nullptr) noexcept;

/// Begins a region of one member, which the calling thread is until the end of it.
void begin_lone_region();
void end_lone_region() noexcept;

/// Returns when all members have called it and all tasks of the team have ended; runs tasks
/// meanwhile.
void wait_at_barrier(member& here) noexcept;

/// Runs the region of its team on the member: the body, and the barrier at the end.
void run_member(member& one) noexcept;

/// The present task's values, which it may change: mostly a copy.
control_values& change_values(member& here) noexcept;

}  // namespace quern::omp
