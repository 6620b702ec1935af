// SPDX-License-Identifier: BSL-1.0
// What the tracing layer hangs into the loop. Null by default: one predictable branch per event.
// The functions run on the worker, outside user code, and must neither block nor throw. Where one
// begins or ends something, worker_stats::since() is the time, unless it says otherwise. Whoever
// installs hooks derives from them what it needs; they must live as long as the pool's workers.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/relaxed.hpp>

namespace quern::detail {

class context;
class pool;
class worker;
struct runnable;
struct task_record;
struct wait_reason;
struct work;

struct hooks {
    using self = const hooks&;

    /// The item is about to be put into a queue, by whatever thread calls. Not told of a task that
    /// yields.
    void (*made_ready)(self, pool& home, runnable& item) = [](self, pool&, runnable&) {};
    /// An item starts, or a suspended context goes on. Comes twice in a row for an item that moves
    /// to a larger stack before it starts. `forked_by`: on which context the item is a forked
    /// child, or null for a runnable.
    void (*item_begins)(self, worker& on, work& item, context* forked_by) = [](self, worker&, work&,
                                                                               context*) {};
    /// What began last on the worker has ended, or has given up the worker: one of the two.
    void (*item_ends)(self, worker& on) = [](self, worker&) {};
    void (*suspends)(self, worker& on) = [](self, worker&) {};
    /// The present task goes on after it has waited since that time; after item_begins, and on its
    /// own stack, so that it can be seen where it waited.
    void (*waited)(self, worker& on, const wait_reason& why,
                   tick_count since) = [](self, worker&, const wait_reason&, tick_count) {};
    /// A task runs in the place of the one that waits for it, whose record is `outer`; and has
    /// ended. Take the time themselves.
    void (*inline_begins)(self, worker& on, task_record& outer, const runnable& item) =
        [](self, worker&, task_record&, const runnable&) {};
    void (*inline_ends)(self, worker& on, task_record& outer) = [](self, worker&, task_record&) {};
    void (*steals)(self, worker& thief, worker& victim) = [](self, worker&, worker&) {};
    void (*parks)(self, worker& on) = [](self, worker&) {};
    void (*unparks)(self, worker& on) = [](self, worker&) {};
};

/// What is known of an item's way into a queue. With hooks it is theirs to write; without, one item
/// in so many has the time alone.
struct readiness {
    std::uint64_t by = 0;  ///< whose doing, as the one who writes it understands it
    tick_count at = 0;     ///< when, or 0
};

/// What the hooks keep with a task that has begun. What changes often is copied as it is written,
/// each by itself: a copy in larger portions would wait for the writes.
struct traced_task {
    std::uint64_t parent = 0;           ///< the task that made it, or 0
    relaxed<tick_count> spent = 0;      ///< in pieces that have ended
    relaxed<tick_count> begun = 0;      ///< the present piece; 0: before anybody looked
    relaxed<std::uint32_t> pieces = 0;  ///< that have ended
    std::uint16_t weight = 1;           ///< for so many tasks it was chosen; 0: it was passed over
    bool is_inlined : 1 = false;
    bool is_stolen : 1 = false;
    bool did_nothing : 1 = false;  ///< it came out of a queue, but its waiter had run it before
    bool is_long : 1 = false;      ///< recorded for itself alone, chosen or not
    std::uint8_t unused = 0;       ///< so that a copy takes whole words

    /// How many tasks it is recorded for; 0: it is not.
    std::uint16_t stands_for() const noexcept { return is_long ? std::uint16_t{1} : weight; }
};

}  // namespace quern::detail
