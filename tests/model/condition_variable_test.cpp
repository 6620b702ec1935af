// SPDX-License-Identifier: BSL-1.0
// The condition variable's protocol (quern/sync/detail/notices.hpp) in every interleaving: no
// notification is lost, a resumed waiter owns the mutex, and then both objects may be destroyed.
#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

using notices = quern::detail::notices<model::protocol_atomics, waiter, spin>;

/// The publication of a wait.
bool leave(notices& n, waiter& self) {
    waiter* next_owner = nullptr;
    const bool queued = n.enqueue(self, next_owner);
    if (next_owner != nullptr) {
        next_owner->wake();
    }
    return queued || !notices::pass_on(self);
}

void pass(waiter& taken) {
    if (notices::pass_on(taken)) {
        taken.wake();
    }
}

void wait(notices& n, ownership& mutex) {
    waiter self(this_holder(), &mutex);
    if (!leave(n, self)) {
        self.wake();
    }
    self.sleep();
    model::check(mutex.owned_by(this_holder()), "who goes on owns the mutex");
}

/// Whether a waiter was notified.
bool notify_one(notices& n) {
    waiter* const first = n.looks_empty() ? nullptr : n.take_first();
    if (first != nullptr) {
        pass(*first);
    }
    return first != nullptr;
}

void notify_all(notices& n) {
    waiter* first = n.looks_empty() ? nullptr : n.take_all();
    while (first != nullptr) {
        waiter* const next = first->next;
        pass(*first);
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

/// `waiting` threads wait for `ready`; of two, the first has waited since the beginning. One more
/// thread sets it and notifies, while it holds the mutex or afterwards. With `destroy` the last
/// thread to resume destroys everything.
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
            model::check(leave(s.object->changed, *s.early), "it is queued");
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
                r, s, [](state& in, waiter& self) { return leave(*in.changed, self); },
                [](state& in) {
                    model::check(in.mutex->owned_by(this_holder()), "who goes on owns it");
                    release(*in.mutex);
                    in.mutex.reset();
                    in.changed.reset();
                });
            r.thread([&s, inside] {
                // Before the waiter is queued a notification would be lost.
                while (s.changed->looks_empty()) {
                    model::atomics::pause();
                }
                if (inside) acquire(*s.mutex);
                while (!notify_one(*s.changed)) {
                    model::atomics::pause();  // it is about to be queued
                }
                if (inside) release(*s.mutex);
            });
        });
    }
}

bool withdraw(notices& n, waiter& self) {
    if (!n.withdraw(self)) {
        return false;
    }
    pass(self);
    return true;
}

/// A thread waits with a limit, and another one notifies it. In every order the waiter owns the
/// mutex when it resumes. With `destroy` the notifier destroys the condition variable at once,
/// because all waiters have been notified.
auto limit_against_notice(bool inside, bool destroy) {
    return [=](run& r) {
        struct state {
            ownership mutex;
            std::optional<notices> changed;
            limited_wait limited{holder_of(0), &mutex};
        };
        auto& s = r.make<state>();
        s.changed.emplace();
        const std::uintptr_t me = holder_of(0);
        model::check(s.mutex.try_take(me), "nobody else is there yet");
        if (destroy) {
            model::check(leave(*s.changed, s.limited.self()), "it is queued");
        }
        r.thread([&s, destroy] {
            if (destroy) {
                s.limited.end();
            } else {
                s.limited.wait([&s](waiter& self) { return leave(*s.changed, self); });
            }
            model::check(s.mutex.owned_by(this_holder()), "who goes on owns the mutex");
            release(s.mutex);
        });
        r.thread([&s] { s.limited.ring([&](waiter& w) { return withdraw(*s.changed, w); }); });
        r.thread([&s, inside, destroy] {
            if (inside) acquire(s.mutex);
            notify_all(*s.changed);
            if (destroy) s.changed.reset();
            if (inside) release(s.mutex);
        });
        r.at_end([&s] { model::check(s.mutex.looks_free(), "nobody owns it at the end"); });
    };
}

TEST(model_condition_variable, whose_limit_has_passed_goes_on_with_the_mutex) {
    expect_passes_everywhere("a limit, notified inside", k_fewer,
                             limit_against_notice(true, false));
    expect_passes_everywhere("a limit, notified outside", k_fewer,
                             limit_against_notice(false, false));
}

TEST(model_condition_variable, a_limit_ends_the_wait_when_nobody_notifies) {
    expect_passes_everywhere("a limit alone, condition variable", k_fewer, [](run& r) {
        struct state {
            ownership mutex;
            notices changed;
            limited_wait limited{holder_of(0), &mutex};
        };
        auto& s = r.make<state>();
        model::check(s.mutex.try_take(holder_of(0)), "nobody else is there yet");
        r.thread([&s] {
            const bool noticed =
                s.limited.wait([&s](waiter& self) { return leave(s.changed, self); });
            model::check(!noticed, "nobody has notified it");
            model::check(s.mutex.owned_by(this_holder()), "who goes on owns the mutex");
            release(s.mutex);
        });
        r.thread([&s] { s.limited.ring([&](waiter& w) { return withdraw(s.changed, w); }); });
        r.thread([&s] {
            acquire(s.mutex);
            release(s.mutex);
        });
    });
}

TEST(model_condition_variable,
     may_be_destroyed_when_one_has_been_notified_or_its_limit_has_passed) {
    expect_passes_everywhere("a limit, destroyed inside", k_fewer,
                             limit_against_notice(true, true));
    expect_passes_everywhere("a limit, destroyed outside", k_fewer,
                             limit_against_notice(false, true));
}

/// The first of two waiters has a limit. A notification reaches the first, which then notifies
/// again; or it reaches the second, because the first has left.
TEST(model_condition_variable, a_notice_is_not_lost_on_one_whose_limit_passes) {
    expect_passes_everywhere("one of two has a limit", k_fewer, [](run& r) {
        struct state {
            ownership first_mutex;
            ownership second_mutex;
            notices changed;
            limited_wait limited{holder_of(0), &first_mutex};
            std::optional<waiter> second;
        };
        auto& s = r.make<state>();
        s.first_mutex.try_take(holder_of(0));
        s.second_mutex.try_take(holder_of(1));
        leave(s.changed, s.limited.self());
        s.second.emplace(holder_of(1), &s.second_mutex);
        leave(s.changed, *s.second);
        r.thread([&s] {
            if (s.limited.end()) {
                notify_one(s.changed);
            }
        });
        r.thread([&s] {
            s.second->sleep();
            s.second.reset();
        });
        r.thread([&s] { s.limited.ring([&](waiter& w) { return withdraw(s.changed, w); }); });
        r.thread([&s] { notify_one(s.changed); });
        r.at_end([&s] { model::check(s.changed.looks_empty(), "nobody waits at the end"); });
    });
}

/// Proves that the tests above detect a task that waits for ever.
TEST(model_condition_variable, a_notice_for_one_does_not_do_for_two) {
    const auto found = model::explore(k_fewer, set_and_notify(2, notifier::one_inside, false));
    EXPECT_FAILS(found, livelock);
}

}  // namespace
