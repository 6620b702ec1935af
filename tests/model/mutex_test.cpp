// SPDX-License-Identifier: BSL-1.0
// The mutex's protocol (quern/sync/detail/ownership.hpp) in every interleaving: exclusion, no lost
// wake-up, and destruction by the last thread to unlock.
#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

auto lock_and_unlock(int threads, int rounds) {
    return [=](run& r) {
        struct state {
            ownership mutex;
            model::var<int> total{0};
        };
        auto& s = r.make<state>();
        for (int t = 0; t != threads; ++t) {
            r.thread([&s, rounds] {
                for (int i = 0; i != rounds; ++i) {
                    acquire(s.mutex);
                    s.total = s.total + 1;
                    release(s.mutex);
                }
            });
        }
        r.at_end([&s, threads, rounds] {
            model::check(s.total == threads * rounds, "each was inside");
            model::check(s.mutex.looks_free(), "nobody owns it at the end");
        });
    };
}

TEST(model_mutex, excludes_and_loses_no_wake_up) {
    expect_passes_everywhere("mutex, 2 threads", {}, lock_and_unlock(2, 1));
    expect_passes_everywhere("mutex, 2 threads twice", k_fewer, lock_and_unlock(2, 2));
    expect_passes_everywhere("mutex, 3 threads", k_fewer, lock_and_unlock(3, 1));
}

/// Each thread leaves; the last one destroys. The explorer reports any later access.
auto last_one_destroys(int threads) {
    return [=](run& r) {
        struct shared {
            ownership mutex;
            model::var<int> users{0};
        };
        struct state {
            std::optional<shared> object;
        };
        auto& s = r.make<state>();
        s.object.emplace();
        s.object->users = threads;
        for (int t = 0; t != threads; ++t) {
            r.thread([&s] {
                acquire(s.object->mutex);
                s.object->users = s.object->users - 1;
                const bool last = s.object->users == 0;
                release(s.object->mutex);
                if (last) {
                    s.object.reset();
                }
            });
        }
        r.at_end([&s] { model::check(!s.object.has_value(), "somebody was the last"); });
    };
}

TEST(model_mutex, may_be_destroyed_by_the_last_who_unlocks) {
    expect_passes_everywhere("last of 2 destroys a mutex", k_fewer, last_one_destroys(2));
    expect_passes_everywhere("last of 3 destroys a mutex", k_fewer, last_one_destroys(3));
}

TEST(model_mutex, may_be_destroyed_before_the_suspension_is_complete) {
    expect_passes_everywhere("a suspended task destroys a mutex", k_fewer, [](run& r) {
        struct state {
            std::optional<ownership> mutex;
            std::optional<waiter> suspended;
        };
        auto& s = r.make<state>();
        s.mutex.emplace();
        s.suspended.emplace(holder_of(1));
        model::check(s.mutex->try_take(holder_of(2)), "nobody else is there yet");
        suspend_in_two(
            r, s, [](state& in, waiter& self) { return in.mutex->enqueue(self); },
            [](state& in) {
                model::check(in.mutex->owned_by(this_holder()), "it has been handed over");
                release(*in.mutex);
                in.mutex.reset();
            });
        r.thread([&s] { release(*s.mutex); });
    });
}

/// try_lock beside lock: it takes only a free mutex, never one with a queued waiter.
TEST(model_mutex, try_lock_fits_in) {
    expect_passes_everywhere("lock and try_lock", k_fewer, [](run& r) {
        struct state {
            ownership mutex;
            model::var<int> total{0};
            int tried = 0;
        };
        auto& s = r.make<state>();
        for (int t = 0; t != 2; ++t) {
            r.thread([&s] {
                acquire(s.mutex);
                s.total = s.total + 1;
                release(s.mutex);
            });
        }
        r.thread([&s] {
            if (s.mutex.try_take(this_holder())) {
                s.total = s.total + 1;
                s.tried = 1;
                release(s.mutex);
            }
        });
        r.at_end([&s] { model::check(s.total == 2 + s.tried, "each was inside"); });
    });
}

auto withdraw_from(ownership& mutex) {
    return [&mutex](waiter& w) { return mutex.withdraw(w) && wake_expired(w); };
}

struct owned_by_first {
    owned_by_first() { model::check(mutex.try_take(holder_of(0)), "nobody else is there yet"); }

    void use_if(bool owns) {
        if (owns) {
            model::check(mutex.owned_by(this_holder()), "who goes on is the owner");
            total = total + 1;
            release(mutex);
        }
    }

    ownership mutex;
    model::var<int> total{0};
    limited_wait limited{holder_of(1)};
    std::optional<waiter> other;
};

/// The owner unlocks while a thread arrives that waits with a limit.
void limit_against_unlock(run& r) {
    auto& s = r.make<owned_by_first>();
    r.thread([&s] { release(s.mutex); });
    r.thread([&s] {
        s.use_if(s.limited.wait([&s](waiter& self) { return s.mutex.enqueue_in_time(self); }));
    });
    r.thread([&s] { s.limited.ring(withdraw_from(s.mutex)); });
    r.at_end(
        [&s] { model::check(s.mutex.looks_free(), "nobody owns it and nobody waits at the end"); });
}

/// The owner unlocks while two threads wait, one of them with a limit.
auto limit_in_a_queue(bool limited_first) {
    return [=](run& r) {
        auto& s = r.make<owned_by_first>();
        s.other.emplace(holder_of(2));
        const auto queue_limited = [&s] { s.mutex.enqueue_in_time(s.limited.self()); };
        if (limited_first) queue_limited();
        s.mutex.enqueue(*s.other);
        if (!limited_first) queue_limited();
        r.thread([&s] { release(s.mutex); });
        r.thread([&s] { s.use_if(s.limited.end()); });
        r.thread([&s] {
            s.other->sleep();
            s.other.reset();
            s.use_if(true);
        });
        r.thread([&s] { s.limited.ring(withdraw_from(s.mutex)); });
        r.at_end([&s] {
            model::check(s.mutex.looks_free(), "nobody owns it and nobody waits at the end");
        });
    };
}

TEST(model_mutex, one_whose_limit_passes_neither_takes_it_along_nor_leaves_it_awaited) {
    expect_passes_everywhere("a limit and an unlock", k_fewer, limit_against_unlock);
    expect_passes_everywhere("a limit, and one behind it", k_fewer, limit_in_a_queue(true));
    expect_passes_everywhere("a limit, and one before it", k_fewer, limit_in_a_queue(false));
}

TEST(model_mutex, a_limit_ends_the_wait_when_nobody_unlocks) {
    expect_passes_everywhere("a limit alone, mutex", k_fewer, [](run& r) {
        auto& s = r.make<owned_by_first>();
        r.thread([&s] { s.limited.ring(withdraw_from(s.mutex)); });
        r.thread([&s] {
            model::check(
                !s.limited.wait([&s](waiter& self) { return s.mutex.enqueue_in_time(self); }),
                "it has not got it");
        });
        r.at_end([&s] {
            model::check(s.mutex.owned_by(holder_of(0)), "it has its owner still");
            model::check(!s.mutex.looks_awaited(), "nobody waits at the end");
        });
    });
}

TEST(model_mutex, may_be_destroyed_by_one_whose_limit_has_passed) {
    expect_passes_everywhere("a limit, and the last destroys", k_fewer, [](run& r) {
        struct state {
            std::optional<ownership> mutex;
            model::var<int> users{2};
            limited_wait limited{holder_of(1)};

            void leave(bool owns) {
                if (!owns) acquire(*mutex);
                users = users - 1;
                const bool last = users == 0;
                release(*mutex);
                if (last) mutex.reset();
            }
        };
        auto& s = r.make<state>();
        s.mutex.emplace();
        model::check(s.mutex->try_take(holder_of(0)), "nobody else is there yet");
        r.thread([&s] { s.leave(true); });
        r.thread([&s] {
            s.leave(s.limited.wait([&s](waiter& w) { return s.mutex->enqueue_in_time(w); }));
        });
        r.thread([&s] { s.limited.ring([&s](waiter& w) { return withdraw_from(*s.mutex)(w); }); });
        r.at_end([&s] { model::check(!s.mutex.has_value(), "somebody was the last"); });
    });
}

/// Proves that the tests above detect their faults.
TEST(model_mutex, an_unlock_that_looks_back_is_found) {
    const auto found = model::explore(k_fewer, [](run& r) {
        struct state {
            std::optional<ownership> mutex;
            model::var<int> users{2};
        };
        auto& s = r.make<state>();
        s.mutex.emplace();
        for (int t = 0; t != 2; ++t) {
            r.thread([&s] {
                acquire(*s.mutex);
                s.users = s.users - 1;
                const bool last = s.users == 0;
                ownership& mutex = *s.mutex;
                release(mutex);
                if (last) {
                    s.mutex.reset();
                } else {
                    (void)mutex.looks_awaited();  // the fault
                }
            });
        }
    });
    EXPECT_FAILS(found, lifetime);
}

}  // namespace
