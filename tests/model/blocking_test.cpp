// SPDX-License-Identifier: BSL-1.0
// Sleeping and spinning: lost wake-ups, time-outs, spurious wake-ups and failures, pauses. Run by
// ctest. A program that can block for ever must be reported whatever the cause; a program that only
// waits for its turn must not.
#include "expectations.hpp"

#include <chrono>
#include <set>

namespace {

using model::atomics;
using model::check;
using model::explore;
using model::result;
using model::run;
using model::words;

result sleep_and_wake(bool wait_on_the_flag, bool wakes) {
    return explore({}, [=](run& r) {
        auto& s = r.make<words>();
        r.thread([&s, wait_on_the_flag] {
            while (s.x.load() == 0)
                atomics::futex_wait(wait_on_the_flag ? s.x : s.y, 0);
        });
        r.thread([&s, wait_on_the_flag, wakes] {
            s.x.store(1);
            if (wakes) atomics::futex_wake(wait_on_the_flag ? s.x : s.y, 1);
        });
    });
}

TEST(model_blocking, a_lost_wake_up_is_a_deadlock) {
    EXPECT_PASSES(sleep_and_wake(true, true));
    EXPECT_FAILS(sleep_and_wake(false, true), deadlock);
    EXPECT_FAILS(sleep_and_wake(true, false), deadlock);
}

TEST(model_blocking, a_background_thread_may_stay_blocked) {
    const auto program = [](bool background) {
        return explore({}, [=](run& r) {
            auto& s = r.make<words>();
            const auto sleeper = [&s] { atomics::futex_wait(s.x, 0); };
            background ? r.background_thread(sleeper) : r.thread(sleeper);
            r.thread([&s] { s.y.store(1); });
        });
    };
    EXPECT_PASSES(program(true));
    EXPECT_FAILS(program(false), deadlock);
}

TEST(model_blocking, waking_one_of_two_explores_both) {
    std::set<int> woken;
    const result r = explore({}, [&](run& p) {
        auto& s = p.make<words>();
        auto& first = p.make<int>(-1);
        for (int t = 0; t != 2; ++t)
            p.background_thread([&s, &first, t] {
                s.y.fetch_add(1);
                atomics::futex_wait(s.x, 0);
                if (first < 0) first = t;
            });
        p.thread([&s] {
            while (s.y.load() != 2)
                atomics::pause();
            atomics::futex_wake(s.x, 1);
        });
        p.at_end([&] { woken.insert(first); });
    });
    EXPECT_PASSES(r);
    EXPECT_EQ(woken, (std::set<int>{-1, 0, 1}));
}

TEST(model_blocking, a_timed_wait_ends_either_way) {
    std::set<int> seen;
    const auto program = [&](std::uint32_t timeouts, bool wakes) {
        seen.clear();
        return explore({.timeouts = timeouts}, [&, wakes](run& r) {
            auto& s = r.make<words>();
            r.thread(
                [&s] { s.seen = atomics::futex_wait_for(s.x, 0, std::chrono::nanoseconds(1)); });
            r.thread([&s, wakes] {
                if (wakes) atomics::futex_wake(s.x, 1);
            });
            r.at_end([&] { seen.insert(s.seen); });
        });
    };
    EXPECT_PASSES(program(1, true));
    EXPECT_EQ(seen, (std::set<int>{0, 1}));
    EXPECT_PASSES(program(0, false));  // no other thread can end it
    EXPECT_EQ(seen, (std::set<int>{0}));
}

TEST(model_blocking, spurious_wake_ups_are_an_option) {
    const auto program = [](std::uint32_t spurious) {
        return explore({.spurious_wakeups = spurious}, [](run& r) {
            auto& s = r.make<words>();
            r.thread([&s] {
                atomics::futex_wait(s.x, 0);
                check(s.x.load() == 1, "woken for a reason");
            });
            r.thread([&s] {
                s.x.store(1);
                atomics::futex_wake(s.x, 1);
            });
        });
    };
    EXPECT_PASSES(program(0));
    EXPECT_FAILS(program(1), check);
}

TEST(model_blocking, spurious_failures_of_a_weak_exchange_are_an_option) {
    const auto program = [](std::uint32_t spurious) {
        return explore({.spurious_cas = spurious}, [](run& r) {
            auto& s = r.make<words>();
            r.thread([&s] {
                std::uint32_t expected = 0;
                check(s.x.compare_exchange_weak(expected, 1), "succeeds alone");
            });
        });
    };
    EXPECT_PASSES(program(0));
    EXPECT_FAILS(program(1), check);
}

TEST(model_spinning, waiting_for_a_writer_ends_and_waiting_for_nobody_is_a_livelock) {
    const auto program = [](model::pause_wakes how, bool writes) {
        return explore({.pause = how}, [=](run& r) {
            auto& s = r.make<words>();
            r.thread([&s] {
                while (s.x.load() == 0)
                    atomics::pause();
            });
            r.thread([&s, writes] {
                for (int i = 0; i != 3; ++i)
                    s.y.fetch_add(1);
                if (writes) s.x.store(1);
            });
        });
    };
    EXPECT_PASSES(program(model::pause_wakes::any_write, true));
    EXPECT_PASSES(program(model::pause_wakes::read_set, true));
    EXPECT_FAILS(program(model::pause_wakes::any_write, false), livelock);
    EXPECT_FAILS(program(model::pause_wakes::read_set, false), livelock);
}

TEST(model_spinning, a_bounded_spin_goes_on_to_what_comes_after_it) {
    const result r = explore({}, [](run& p) {
        auto& s = p.make<words>();
        p.thread([&s] {
            for (int i = 0; i != 4 && s.x.load() == 0; ++i)
                atomics::pause();
        });
    });
    EXPECT_PASSES(r);
}

TEST(model_spinning, an_endless_execution_is_a_livelock) {
    const result r = explore({.max_steps = 100}, [](run& p) {
        auto& s = p.make<words>();
        p.thread([&s] {
            for (;;)
                s.x.fetch_add(1);
        });
    });
    EXPECT_FAILS(r, livelock);
}

}  // namespace
