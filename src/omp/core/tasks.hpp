// SPDX-License-Identifier: BSL-1.0
// Explicit tasks: how they are made, run, waited for.
#pragma once

#include "core/team.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/work.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::omp {

class access_table;
struct access_node;

/// A task that stands in the deque of a worker, or waits for its dependences. Its data lie behind
/// it in the same block.
struct deferred_task final : detail::runnable, task {
    deferred_task() noexcept;

    static deferred_task& from(detail::runnable& item) noexcept {
        return static_cast<deferred_task&>(item);
    }

    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    void* block = nullptr;  ///< what was allocated for it, and how much
    std::size_t bytes = 0;
    access_node* node = nullptr;  ///< of its dependences, if it has any
    /// If it has one: the task ends when its body and its event have.
    std::atomic<unsigned>* event = nullptr;
    team* of = nullptr;        ///< set if it has an event
    bool runs_always = false;  ///< also if it is discarded: its body sees to that
    bool is_counted = false;   ///< by its parent and its group: see count()
};

/// What an entry point of an ABI knows of a task.
struct task_request {
    void (*body)(void*) = nullptr;
    void* argument = nullptr;              ///< data to be copied
    void (*copy)(void*, void*) = nullptr;  ///< null: by bytes
    std::size_t size = 0;
    std::size_t alignment = 1;
    bool is_deferred = true;  ///< the clause `if`
    bool is_final = false;
    void** dependences = nullptr;  ///< as gcc lays them out, or null
};

/// Makes the task; runs it at once if it is not deferred, in a team of one, within a final task, or
/// if the caller has many tasks ready.
void create_task(member& here, const task_request& what) noexcept;

/// Memory for a task with its data, which the caller fills. Then add_deferred() or run_in_place().
deferred_task* prepare_deferred(member& here, std::size_t size, std::size_t alignment) noexcept;
/// From now on its parent and its group wait for it. Only the parent, before any other thread knows
/// of it.
void count(deferred_task& made) noexcept;
/// Counts it and makes it ready.
void add_deferred(member& here, deferred_task& made) noexcept;
/// One that is counted.
void make_ready(member& here, deferred_task& made) noexcept;
/// Runs it as part of its parent, which is the caller: it need not be counted.
void run_in_place(member& here, deferred_task& made) noexcept;

/// Whether tasks of this member are to be run at once.
bool runs_at_once(member& here) noexcept;
/// Runs `body(argument)` as a child task of the present one, here and now.
void run_included(member& here, void (*body)(void*), void* argument, bool is_final) noexcept;

/// Whether the member has so many tasks ready that it runs the next one itself.
bool has_enough_ready(const member& here) noexcept;

/// Calls `body(argument)`, on a fresh stack if the present one is used up.
void call_task_body(void (*body)(void*), void* argument) noexcept;
void run_deferred(member& here, deferred_task& next) noexcept;
/// The body has been run; `before`: the task that was the member's present one.
void end_body(member& here, deferred_task& next, task* before) noexcept;
/// The body of the task has been run without run_deferred().
void end_deferred(member& here, deferred_task& ended) noexcept;

/// Bits of an event: what has happened. Who sets the second one ends the task.
inline constexpr unsigned k_body_ended = 1;
inline constexpr unsigned k_fulfilled = 2;

void wait_for_children(member& here) noexcept;
void wait_for_group(member& here, task_group& group) noexcept;

}  // namespace quern::omp
