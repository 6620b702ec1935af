// SPDX-License-Identifier: BSL-1.0
// The condition variable's protocol (quern/sync/notices.hpp) in every interleaving: no notice is
// lost, who goes on owns the mutex, and both may be destroyed then.
#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

using notices = quern::detail::notices<model::protocol_atomics, waiter, spin>;

void wait(notices& n, ownership& mutex) {
    waiter self(this_holder(), &mutex);
    if (waiter* heir = n.enqueue(self)) {
        heir->wake();
    }
    self.sleep();
    model::check(mutex.owned_by(this_holder()), "who goes on owns the mutex");
}

void notify_one(notices& n) {
    if (!n.looks_empty()) {
        waiter* first = n.take_first();
        if (first != nullptr && notices::pass_on(*first)) {
            first->wake();
        }
    }
}

void notify_all(notices& n) {
    waiter* first = n.looks_empty() ? nullptr : n.take_all();
    while (first != nullptr) {
        waiter* const next = first->next;
        if (notices::pass_on(*first)) {
            first->wake();
        }
        first = next;
    }
}

struct shared {
    explicit shared(int count) : waiting(count) {}

    void leave_when_ready(bool destroy, std::optional<shared>& self) {
        while (!ready) {
            wait(changed, mutex);
        }
        waiting = waiting - 1;
        const bool last = waiting == 0;
        release(mutex);
        if (last && destroy) {
            self.reset();
        }
    }

    ownership mutex;
    notices changed;
    model::var<bool> ready{false};
    model::var<int> waiting;
};

enum class notifier { one_inside, one_outside, all_inside, all_outside };

/// `waiting` wait for `ready`, the first of them, if there are two, since before the beginning. One
/// more sets it and notifies, while it holds the mutex or afterwards. With `destroy` the last that
/// goes on destroys everything.
auto set_and_notify(int waiting, notifier how, bool destroy) {
    return [=](run& r) {
        struct state {
            std::optional<shared> object;
            std::optional<waiter> early;
        };
        auto& s = r.make<state>();
        s.object.emplace(waiting);
        r.thread([&s, how] {
            shared& object = *s.object;
            acquire(object.mutex);
            object.ready = true;
            if (how == notifier::one_inside) notify_one(object.changed);
            if (how == notifier::all_inside) notify_all(object.changed);
            release(object.mutex);
            if (how == notifier::one_outside) notify_one(object.changed);
            if (how == notifier::all_outside) notify_all(object.changed);
        });
        r.thread([&s, destroy] {
            acquire(s.object->mutex);
            s.object->leave_when_ready(destroy, s.object);
        });
        if (waiting == 2) {
            const std::uintptr_t third = holder_of(2);
            s.early.emplace(third, &s.object->mutex);
            model::check(s.object->mutex.try_take(third), "nobody else is there yet");
            model::check(s.object->changed.enqueue(*s.early) == nullptr, "nobody waits yet");
            r.thread([&s, destroy] {
                s.early->sleep();
                s.early.reset();
                s.object->leave_when_ready(destroy, s.object);
            });
        }
        r.at_end([&s, destroy] {
            model::check(s.object.has_value() != destroy, "all went on");
            if (!destroy) {
                model::check(s.object->mutex.looks_free(), "nobody owns the mutex at the end");
                model::check(s.object->changed.looks_empty(), "nobody waits at the end");
            }
        });
    };
}

TEST(model_condition_variable, loses_no_notice) {
    expect_passes_everywhere("notify_one inside", k_fewer,
                             set_and_notify(1, notifier::one_inside, false));
    expect_passes_everywhere("notify_one outside", k_fewer,
                             set_and_notify(1, notifier::one_outside, false));
    expect_passes_everywhere("notify_all inside", k_fewer,
                             set_and_notify(2, notifier::all_inside, false));
    expect_passes_everywhere("notify_all outside", k_fewer,
                             set_and_notify(2, notifier::all_outside, false));
}

TEST(model_condition_variable, may_be_destroyed_by_the_last_that_goes_on) {
    expect_passes_everywhere("condition variable destroyed by 1", k_fewer,
                             set_and_notify(1, notifier::one_inside, true));
    expect_passes_everywhere("condition variable destroyed by 2", k_fewer,
                             set_and_notify(2, notifier::all_inside, true));
}

TEST(model_condition_variable, may_be_destroyed_before_the_suspension_is_complete) {
    for (const bool inside : {true, false}) {
        expect_passes_everywhere("a suspended task destroys both", k_fewer, [inside](run& r) {
            struct state {
                std::optional<ownership> mutex;
                std::optional<notices> changed;
                std::optional<waiter> suspended;
            };
            auto& s = r.make<state>();
            s.mutex.emplace();
            s.changed.emplace();
            s.suspended.emplace(holder_of(1), &*s.mutex);
            model::check(s.mutex->try_take(holder_of(1)), "nobody else is there yet");
            suspend_in_two(
                r, s,
                [](state& in, waiter& self) {
                    if (waiter* heir = in.changed->enqueue(self)) {
                        heir->wake();
                    }
                    return true;
                },
                [](state& in) {
                    model::check(in.mutex->owned_by(this_holder()), "who goes on owns it");
                    release(*in.mutex);
                    in.mutex.reset();
                    in.changed.reset();
                });
            r.thread([&s, inside] {
                // Until the waiter is queued a notice would be in vain.
                while (s.changed->looks_empty()) {
                    model::atomics::pause();
                }
                if (inside) acquire(*s.mutex);
                notify_one(*s.changed);
                if (inside) release(*s.mutex);
            });
        });
    }
}

/// So that the tests above are known to see a task that waits for ever.
TEST(model_condition_variable, a_notice_for_one_does_not_do_for_two) {
    const auto found = model::explore(k_fewer, set_and_notify(2, notifier::one_inside, false));
    EXPECT_FAILS(found, livelock);
}

}  // namespace
