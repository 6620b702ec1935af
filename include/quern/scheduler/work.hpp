// SPDX-License-Identifier: BSL-1.0
// What a worker can run. The scheduler knows no tasks: it calls `run` and then goes on with the
// context that `run` returns, if any. Tasks, resumed contexts and fork-join entries derive from it.
#pragma once

#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/hooks.hpp>

#include <atomic>
#include <cstdint>
#include <limits>

namespace quern {

/// Which ready items a worker takes first: `high` before anything else, `low` when nothing else is
/// ready. So that nothing starves, of every 2042 items that a worker takes one is of low priority
/// and one of normal priority, if there are any.
enum class priority : std::uint8_t { low, normal, high };

}  // namespace quern

namespace quern::detail {

class context;

struct work {
    /// Runs the item to its end or to its first suspension. The result is a context that the
    /// worker must switch to next (a waiter that the item has completed, a resumed context), or
    /// null. The item may be gone when it returns.
    using run_function = context* (*)(work& item);

    constexpr explicit work(run_function f) noexcept : run(f) {}

    run_function run;
};

/// Work that can stand in a queue.
struct runnable : work {
    constexpr explicit runnable(run_function f, bool is_staged = true) noexcept
        : work(f), staged(is_staged) {}

    /// The hint: nobody, a worker's rank, or a NUMA node; one number, so that a task is no larger.
    static constexpr std::int32_t k_anywhere = -1;
    static constexpr std::int32_t k_first_node = std::numeric_limits<std::int32_t>::min();

    bool is_hinted() const noexcept { return home != k_anywhere; }
    bool is_for_worker() const noexcept { return home >= 0; }
    /// Requires: is_hinted() and not is_for_worker().
    std::uint32_t node() const noexcept { return static_cast<std::uint32_t>(home - k_first_node); }

    runnable* next = nullptr;    ///< link of the queue that holds it
    const char* name = nullptr;  ///< given by the user; must outlive the task
    priority urgency = priority::normal;
    bool staged;  ///< described but never started; false for a resumed context
    stack_class stack = stack_class::small;  ///< the least that it may be started on
    bool in_group = false;                   ///< it is a task of a task_group
    std::int32_t home = k_anywhere;
    std::atomic<std::uint32_t> position{0};  ///< belongs to the deque or ring that holds it
    /// Its function runs or has run; an entry in a queue that is left of it is empty.
    std::atomic<bool> begun{false};
    bool counts_to_bound = false;  ///< a task of a bounded group that counts it until it begins
    const void* site = nullptr;    ///< the code address where it was made, if known
    readiness ready;               ///< how it came into a queue
};

}  // namespace quern::detail
