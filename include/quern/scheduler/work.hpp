// SPDX-License-Identifier: BSL-1.0
// What a worker can run. The scheduler knows no tasks: it calls `run` and then resumes the
// context that `run` returns, if any. Tasks, resumed contexts and fork-join entries derive from it.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/detail/hooks.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

namespace quern {

/// Which ready items a worker takes first: `high` before anything else, `low` when nothing else is
/// ready. So that nothing starves, of every 1018 items that a worker takes one is of normal
/// priority, and one is of a rank or priority that has not had its turn for longest.
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

/// What a task keeps of its attributes when it has waited. One word, so that the context of a task
/// gets all of it by one store.
struct lasting_attributes {
    priority urgency = priority::normal;
    stack_class stack = stack_class::small;  ///< the least that it may be started on
    std::int16_t rank = 0;                   ///< within an urgency the larger one is taken first

    void last_as(const lasting_attributes& other) noexcept { *this = other; }
    /// Whether it has a place of its own before or behind most tasks.
    bool has_place() const noexcept { return urgency != priority::normal || rank != 0; }
    /// Whether all are the defaults; false says nothing about has_place(). One comparison.
    bool is_default() const noexcept {
        return std::bit_cast<std::uint32_t>(*this) ==
               std::bit_cast<std::uint32_t>(lasting_attributes());
    }
};

/// Work that can stand in a queue.
struct runnable : work, lasting_attributes {
    constexpr explicit runnable(run_function f, bool is_staged = true) noexcept
        : work(f), staged(is_staged) {}

    /// The hint: none, a worker's rank, or a NUMA node; one number, so that a task is no larger.
    static constexpr std::int32_t k_anywhere = -1;
    static constexpr std::int32_t k_first_node = std::numeric_limits<std::int32_t>::min();

    bool is_hinted() const noexcept { return home != k_anywhere; }
    bool is_for_worker() const noexcept { return home >= 0; }
    /// Requires: is_hinted() and not is_for_worker().
    std::uint32_t node() const noexcept { return static_cast<std::uint32_t>(home - k_first_node); }

    std::int32_t home = k_anywhere;          ///< beside the lasting attributes: no hole
    runnable* next = nullptr;                ///< link of the queue that holds it
    const char* name = nullptr;              ///< given by the user; must outlive the task
    std::atomic<std::uint32_t> position{0};  ///< belongs to the deque or ring that holds it
    bool staged;            ///< described but never started; false for a resumed context
    bool in_group = false;  ///< it is a task of a task_group
    /// Its function runs or has run; an entry in a queue that is left of it is empty.
    std::atomic<bool> begun{false};
    bool counts_to_bound = false;  ///< a task of a bounded group that counts it until it begins
    const void* site = nullptr;    ///< the code address where it was made, if known
    readiness ready;               ///< how it came into a queue
};
static_assert(sizeof(void*) != 8 || sizeof(runnable) == 64, "each queued task would be larger");

}  // namespace quern::detail
