// SPDX-License-Identifier: BSL-1.0
// The functions that the tracing layer installs in the loop. Null by default: one predictable
// branch per event. They run on the worker, outside user code, and must neither block nor throw.
// Unless said otherwise, worker_stats::since() is the time of a begin or an end. The installer
// derives a class with its own data; it must outlive the pool's workers.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/relaxed.hpp>

namespace quern::detail {

class context;
class pool;
class worker;
class worker_shared;
struct runnable;
struct task_record;
struct wait_reason;
struct work;

struct hooks {
    using self = const hooks&;

    /// The item is about to be put into a queue, on the calling thread. Not called for a task that
    /// yields.
    void (*made_ready)(self, pool& home, runnable& item) = [](self, pool&, runnable&) {};
    /// An item starts, or a suspended context resumes. Called twice in a row for an item that moves
    /// to a larger stack before it starts. `forked_by`: the context on which the item is a forked
    /// child, or null for a runnable.
    void (*item_begins)(self, worker& on, work& item, context* forked_by) = [](self, worker&, work&,
                                                                               context*) {};
    /// The worker's present item has ended, or has given up the worker.
    void (*item_ends)(self, worker& on) = [](self, worker&) {};
    void (*suspends)(self, worker& on) = [](self, worker&) {};
    /// The present task has resumed after waiting since that time. Called after item_begins and on
    /// the task's own stack, so that the call stack shows the wait.
    void (*waited)(self, worker& on, const wait_reason& why,
                   tick_count since) = [](self, worker&, const wait_reason&, tick_count) {};
    /// A task begins or ends inline in the task that waits for it, whose record is `outer`. These
    /// read the clock themselves.
    void (*inline_begins)(self, worker& on, task_record& outer, const runnable& item) =
        [](self, worker&, task_record&, const runnable&) {};
    void (*inline_ends)(self, worker& on, task_record& outer) = [](self, worker&, task_record&) {};
    void (*steals)(self, worker& thief, worker_shared& victim) = [](self, worker&, worker_shared&) {
    };
    void (*parks)(self, worker& on) = [](self, worker&) {};
    void (*unparks)(self, worker& on) = [](self, worker&) {};
};

/// How an item came into a queue. Written by the hooks if there are any; else only one item in
/// several has the time.
struct readiness {
    std::uint64_t by = 0;  ///< the cause, in a form the writer chooses
    tick_count at = 0;     ///< time, or 0
};

/// What the hooks keep with a task that has begun. Fields that change often are copied one by one:
/// a copy in larger portions would wait for the writes.
struct traced_task {
    std::uint64_t parent = 0;           ///< the task that created it, or 0
    relaxed<tick_count> spent = 0;      ///< in pieces that have ended
    relaxed<tick_count> begun = 0;      ///< start of the present piece; 0: not measured
    relaxed<std::uint32_t> pieces = 0;  ///< number of pieces that have ended
    std::uint16_t weight = 1;           ///< number of tasks that it samples; 0: it is not sampled
    bool is_inlined : 1 = false;
    bool is_stolen : 1 = false;
    bool did_nothing : 1 = false;  ///< its waiter had already run it when it came out of a queue
    bool is_long : 1 = false;      ///< recorded because it is long, sampled or not
    bool is_part : 1 = false;      ///< a stolen child of a fork; its site is that of its parent
    std::uint8_t unused = 0;       ///< pads to whole words for copying

    /// The number of tasks that its record represents; 0: it is not recorded.
    std::uint16_t stands_for() const noexcept { return is_long ? std::uint16_t{1} : weight; }
};

}  // namespace quern::detail
