// SPDX-License-Identifier: BSL-1.0
// Taskloops whose tasks are made where they run: the numbers of those that have not begun lie in
// ranges, as the chunks of a loop do, and members with nothing else to do take from them. Protocol:
// ../README.md, "Taskloops".
#pragma once

#include "core/ranges.hpp"
#include "core/tasks.hpp"

#include <quern/base/detail/atomics.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quern::omp {

enum class task_grain : std::uint8_t { chosen, iterations, tasks };

struct iterations {
    std::uint64_t from;
    std::uint64_t count;
};

/// How the iterations of a taskloop are divided among its tasks.
class loop_division {
public:
    /// `wanted`: iterations of each task, or tasks; 0 is as task_grain::chosen. `is_strict`: of the
    /// tasks only the last may have fewer iterations than wanted. No tasks if there are no
    /// iterations.
    loop_division(unsigned members, std::uint64_t count, task_grain by, std::uint64_t wanted,
                  bool is_strict) noexcept;
    std::uint64_t tasks() const noexcept { return m_tasks; }
    iterations of(std::uint64_t task) const noexcept;

private:
    std::uint64_t m_count;
    std::uint64_t m_tasks;
    std::uint64_t m_each;
    std::uint64_t m_larger;  ///< tasks, the first ones, that have one iteration more
};

/// The tasks of a loop, and how one is made.
struct loop_tasks {
    loop_division division;
    std::size_t size;  ///< of the data of each, and their alignment
    std::size_t alignment;
    void (*body)(void*);
    /// Fills the task's data. By any member of the team; may be called again with the same memory
    /// after the task has ended.
    void (*make)(const loop_tasks& self, deferred_task& into, iterations which) noexcept;
};

/// Begins with the taskgroup around the loop, and lies on the frame of the member that waits for
/// that group.
class shared_task_loop {
public:
    /// Whether tasks of this member may be shared so, if they are deferred and in a group of their
    /// loop's own.
    static bool suits(member& here, const loop_division& by) noexcept;

    shared_task_loop(const member& here, const loop_tasks& what);
    /// Runs tasks until none is left that has not begun. Others run some in tasks that count at the
    /// present group.
    void run(member& here) noexcept;

private:
    /// What a task that runs others' tasks knows.
    struct helper {
        shared_task_loop* of;
        unsigned number;
    };
    struct alignas(detail::k_cache_line) slot {
        chunk_range<detail::std_atomics> range;
    };

    void add_helpers(member& here) noexcept;
    void run_as(member& here, unsigned number) noexcept;
    bool take_from_others(unsigned number) noexcept;

    const loop_tasks& m_tasks;
    unsigned m_slot_count;
    std::unique_ptr<slot[]> m_slots;
    /// Low half: ranges that have changed their owner. High half: those that are about to.
    std::atomic<std::uint64_t> m_moves{0};
};

}  // namespace quern::omp
