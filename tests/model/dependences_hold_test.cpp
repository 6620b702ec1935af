// SPDX-License-Identifier: BSL-1.0
// Holds of a dependent task (src/dependences/README.md): threads drop them while its function
// returns, while a child ends, and while a later task registers with its access. It is completed
// once; its access is released after the function, the holds and the child that uses it.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>
#include <quern/scheduler/detail/hold_count.hpp>
#include <quern/task/detail/group_count.hpp>

namespace {

using model::check;
using model::run;
using model::var;

struct held_target;

struct held_link {
    var<held_link*> next = nullptr;
    var<held_target*> to = nullptr;
};

/// A later task, or the access of the held one.
struct held_target {
    quern::detail::predecessor_count<model::protocol_atomics> missing;
};

enum class hold_fault { none, released_at_return, dropped_before_use, completed_by_both };

struct held_dependent_task {
    using stack = quern::detail::successor_stack<model::protocol_atomics, held_link>;
    using children_count = quern::detail::group_count<model::protocol_atomics, held_dependent_task>;

    held_dependent_task(int held_by, bool has_child, hold_fault f)
        : holders(held_by), with_child(has_child), fault(f) {
        for (int i = 0; i < holders; ++i) {
            holds.add();
        }
        if (with_child) {
            children.owner_spawned();
        }
    }

    // -- the worker that runs it, as queued_task and dependent_task do it ----------------------

    void return_from_function() {
        effect = 1;
        if (fault == hold_fault::released_at_return) {
            release_access();
        }
        const bool is_last = holds.has_ended(
            [](void* self) noexcept { static_cast<held_dependent_task*>(self)->completed(); },
            this);
        if (is_last || fault == hold_fault::completed_by_both) {
            completed();
        }
    }

    /// On that worker, or on the thread that has dropped the last hold.
    void completed() {
        if (!with_child) {
            complete();
            return;
        }
        to_access.to = &own_access;
        const bool is_used = child_access.push(to_access);
        if (own_access.missing.registered(is_used ? 1 : 0)) {
            release_access();
        }
        if (!children.wait(*this)) {
            complete();
        }
    }

    void complete() {
        completions = completions + 1;
        if (!with_child) {
            release_access();
        }
    }

    void release_access() {
        if (is_released) {
            return;  // a broken variant
        }
        is_released = true;
        for (held_link* each = successors.release(); each != nullptr;) {
            held_target* const to = each->to;
            each = each->next;
            if (to->missing.satisfied()) {
                run_later();
            }
        }
    }

    // -- other threads -------------------------------------------------------------------------

    void drop(int which) {
        if (fault == hold_fault::dropped_before_use) {
            holds.drop();
            received[which] = 1;
        } else {
            received[which] = 1;
            holds.drop();
        }
    }

    void end_child() {
        child_effect = 1;
        if (child_access.release() != nullptr && own_access.missing.satisfied()) {
            release_access();
        }
        if (held_dependent_task* const parent = children.finished()) {
            parent->complete();
        }
    }

    void register_later() {
        to_later.to = &later;
        const bool waits = successors.push(to_later);
        if (later.missing.registered(waits ? 1 : 0)) {
            run_later();
        }
    }

    void run_later() {
        check(effect == 1, "the function has returned");
        for (int i = 0; i < holders; ++i) {
            check(received[i] == 1, "each hold has been dropped");
        }
        check(!with_child || child_effect == 1, "the child has ended");
        later_runs = later_runs + 1;
    }

    const int holders;
    const bool with_child;
    const hold_fault fault;
    quern::detail::hold_count<model::protocol_atomics> holds;
    children_count children;
    stack successors;
    stack child_access;
    held_target own_access;
    held_target later;
    held_link to_access;
    held_link to_later;
    var<bool> is_released = false;
    var<int> effect = 0;
    var<int> child_effect = 0;
    var<int> received[2] = {0, 0};
    var<int> completions = 0;
    var<int> later_runs = 0;
};

auto a_held_task(int holders, bool has_child, hold_fault fault = hold_fault::none) {
    return [=](run& r) {
        auto& task = r.make<held_dependent_task>(holders, has_child, fault);
        r.thread([&task] { task.return_from_function(); });
        for (int i = 0; i < holders; ++i) {
            r.thread([&task, i] { task.drop(i); });
        }
        if (has_child) {
            r.thread([&task] { task.end_child(); });
        }
        r.thread([&task] { task.register_later(); });
        r.at_end([&task] {
            check(task.completions == 1, "completed once");
            check(task.later_runs == 1, "the later task has run once");
        });
    };
}

TEST(model_dependences_hold, one_hold) {
    model::expect_passes_everywhere("hold against the body's end", {}, a_held_task(1, false));
}

TEST(model_dependences_hold, two_holds) {
    model::expect_passes_everywhere("2 holds against the body's end", {}, a_held_task(2, false));
}

TEST(model_dependences_hold, a_hold_and_a_child) {
    model::expect_passes_everywhere("hold and child against the body's end", {},
                                    a_held_task(1, true));
}

// Accesses of a held task stay until the last hold is dropped.
TEST(model_dependences_hold, releasing_when_the_function_returns_is_found) {
    model::expect_found_broken("released in spite of a hold", {},
                               a_held_task(1, false, hold_fault::released_at_return));
}

TEST(model_dependences_hold, use_after_the_drop_is_found) {
    model::expect_found_broken("dropped before the last use", {},
                               a_held_task(1, false, hold_fault::dropped_before_use));
}

TEST(model_dependences_hold, completion_by_both_sides_is_found) {
    model::expect_found_broken("completed by both sides", {},
                               a_held_task(1, false, hold_fault::completed_by_both));
}

}  // namespace
