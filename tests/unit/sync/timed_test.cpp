// SPDX-License-Identifier: BSL-1.0
// Waits with a limit: the common properties of every type that has them, for tasks and for threads
// outside. The properties of single types are in timed_particulars_test.cpp.
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>

#include "crew.hpp"

#include <chrono>
#include <mutex>

namespace {

using namespace std::chrono_literals;
using quern_test::crew;
using steady = std::chrono::steady_clock;

/// Each has an object to wait for; give() lets one waiter succeed. The thread that made it calls
/// give().
template <class Mutex>
struct locked {
    locked() { m.lock(); }
    bool wait_until(auto when) { return m.try_lock_until(when) && (m.unlock(), true); }
    bool wait_for(auto time) { return m.try_lock_for(time) && (m.unlock(), true); }
    void give() { m.unlock(); }
    Mutex m;
};

struct locked_for_readers {
    locked_for_readers() { m.lock(); }
    bool wait_until(auto when) {
        return m.try_lock_shared_until(when) && (m.unlock_shared(), true);
    }
    bool wait_for(auto time) { return m.try_lock_shared_for(time) && (m.unlock_shared(), true); }
    void give() { m.unlock(); }
    quern::shared_timed_mutex m;
};

struct no_permit {
    bool wait_until(auto when) { return s.try_acquire_until(when); }
    bool wait_for(auto time) { return s.try_acquire_for(time); }
    void give() { s.release(); }
    quern::counting_semaphore<> s{0};
};

struct not_set {
    bool wait_until(auto when) { return e.wait_until(when); }
    bool wait_for(auto time) { return e.wait_for(time); }
    void give() { e.set(); }
    quern::event e;
};

struct empty_channel {
    bool wait_until(auto when) { return c.try_receive_until(when).has_value(); }
    bool wait_for(auto time) { return c.try_receive_for(time).has_value(); }
    void give() { c.send(1); }
    quern::channel<int> c;
};

struct full_channel {
    full_channel() { c.send(0); }
    bool wait_until(auto when) { return c.try_send_until(1, when); }
    bool wait_for(auto time) { return c.try_send_for(1, time); }
    void give() { c.receive(); }
    quern::channel<int> c{1};
};

template <class Variable, class Mutex>
struct condition {
    bool wait_until(auto when) {
        std::unique_lock lock(m);
        return changed.wait_until(lock, when, [this] { return ready; });
    }
    bool wait_for(auto time) {
        std::unique_lock lock(m);
        return changed.wait_for(lock, time, [this] { return ready; });
    }
    void give() {
        const std::scoped_lock lock(m);
        ready = true;
        changed.notify_one();
    }
    Mutex m;
    Variable changed;
    bool ready = false;
};

template <class Type>
class timed : public testing::Test {};

using types =
    testing::Types<locked<quern::timed_mutex>, locked<quern::recursive_timed_mutex>,
                   locked<quern::shared_timed_mutex>, locked_for_readers, no_permit, not_set,
                   empty_channel, full_channel, condition<quern::condition_variable, quern::mutex>,
                   condition<quern::condition_variable_any, quern::recursive_mutex>>;
TYPED_TEST_SUITE(timed, types);

void on_1_2_and_8_workers(auto body) {
    for (const unsigned workers : {1U, 2U, 8U}) {
        SCOPED_TRACE(workers);
        crew all(workers);
        body(all);
    }
}

// Holds: timed_mutex: Timed attempts return false when the time has passed, and not before.
// Holds: timed_mutex: A waiter that has left the queue has not locked, takes nothing along, and
//     does not block the next one.
// Holds: timed_mutex: Tasks and threads may wait.
// Holds: condition_variable: wait_for() and wait_until() return std::cv_status::timeout...
// Holds: condition_variable: wait_for() and wait_until() with...
// Holds: condition_variable_any: wait_for() and wait_until() end at their time, not before it, or
//     when notified; with a predicate they return what it returned last.
// Holds: counting_semaphore: try_acquire_for() and try_acquire_until() take...
// Holds: event: wait_for() and wait_until() return...
// Holds: channel: The timed forms of...
TYPED_TEST(timed, a_wait_ends_without_success_when_its_time_has_passed_and_not_before) {
    on_1_2_and_8_workers([](crew& all) {
        TypeParam thing;
        const auto check = [&thing](auto limit) {
            const auto begin = steady::now();
            EXPECT_FALSE(thing.wait_for(limit));
            EXPECT_GE(steady::now() - begin, limit);
        };
        for (int i = 0; i < 10; ++i) {
            all.task([&check, i] { check(i * 300us); });
        }
        all.thread([&check] { check(2ms); });
        all.thread([&check] { check(1ms); });
        all.finish();
        thing.give();
        EXPECT_TRUE(thing.wait_for(0s)) << "those who have left took nothing along";
    });
}

// Holds: timed_mutex: try_lock_for(), try_lock_until() and the shared ones return true when they
//     have locked it in time.
// Holds: condition_variable: wait_for() and wait_until() with a predicate return what it returned
//     last.
// Holds: condition_variable_any: wait_for() and wait_until() end...
// Holds: counting_semaphore: try_acquire_for() and try_acquire_until() take a permit unless the
//     time passes before; they say no not before it.
// Holds: event: wait_for() and wait_until() return whether it was set; false only when the time has
//     passed.
// Holds: channel: The timed forms of send and receive give false or nothing when the time has come
//     first, and not before it.
TYPED_TEST(timed, a_wait_ends_with_success_when_what_it_is_for_comes_in_time) {
    on_1_2_and_8_workers([](crew& all) {
        {
            TypeParam thing;
            all.task([&thing] { EXPECT_TRUE(thing.wait_for(24h)); });
            all.settle_but_for_timers();
            thing.give();
            all.finish();
        }
        TypeParam thing;
        all.thread([&thing] { EXPECT_TRUE(thing.wait_until(steady::now() + 24h)); });
        thing.give();
        all.finish();
        all.settle();  // no timer is left
    });
}

// Holds: timed_mutex: A time that has passed makes the timed forms an attempt.
// Holds: counting_semaphore: A time that has passed makes try_acquire_for() and try_acquire_until()
//     a try_acquire().
// Holds: event: wait_for() and wait_until() return...
TYPED_TEST(timed, a_time_that_has_passed_makes_it_an_attempt) {
    on_1_2_and_8_workers([](crew& all) {
        TypeParam thing;
        const auto attempts = [&thing](bool expected) {
            return [&thing, expected] {
                EXPECT_EQ(thing.wait_until(steady::time_point::min()), expected);
                EXPECT_EQ(thing.wait_until(std::chrono::system_clock::now() - 1h), false);
                EXPECT_EQ(thing.wait_for(-1h), false);
                EXPECT_EQ(thing.wait_for(0ns), false);
            };
        };
        all.task(attempts(false));
        all.thread(attempts(false));
        all.finish();
        thing.give();
        all.task([&thing] { EXPECT_TRUE(thing.wait_until(steady::time_point::min())); });
        all.finish();
    });
}

// Holds: timed_mutex: A waiter that has left...
// Holds: condition_variable: A waiter that has left by its limit is not notified in another's
//     place.
// Holds: condition_variable_any: A waiter that has left by its limit is not notified in another's
//     place.
TYPED_TEST(timed, one_that_leaves_lets_the_next_one_have_its_turn) {
    on_1_2_and_8_workers([](crew& all) {
        TypeParam thing;
        std::atomic<int> left{0};
        for (int i = 0; i < 3; ++i) {
            all.task([&, i] {
                EXPECT_FALSE(thing.wait_for((3 - i) * 2ms));
                ++left;
                left.notify_one();
            });
        }
        all.settle_but_for_timers();
        all.task([&] { EXPECT_TRUE(thing.wait_for(24h)); });
        for (int seen = 0; (seen = left.load()) != 3;) {
            left.wait(seen);
        }
        thing.give();
        all.finish();
    });
}

// Holds: timed_mutex: A time may be as far away as you like.
TYPED_TEST(timed, a_century_is_not_too_long) {
    on_1_2_and_8_workers([](crew& all) {
        TypeParam thing;
        TypeParam another;
        all.task([&] { EXPECT_TRUE(thing.wait_for(std::chrono::hours::max())); });
        all.task([&] { EXPECT_TRUE(another.wait_until(steady::time_point::max())); });
        all.settle_but_for_timers();
        thing.give();
        another.give();
        all.finish();
    });
}

/// Returns the same time at its first readings, as a clock that is set back repeatedly, then leaps
/// ahead.
struct odd_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<odd_clock>;
    static constexpr bool is_steady = false;
    static constexpr int k_still = 8;
    static time_point now() noexcept { return time_point(looks.fetch_add(1) < k_still ? 0ms : 1h); }
    static inline std::atomic<int> looks{0};
};

// Holds: timed_mutex: The clock of the caller says when the time has come.
TYPED_TEST(timed, the_clock_of_the_caller_says_when_the_time_has_come) {
    on_1_2_and_8_workers([](crew& all) {
        TypeParam thing;
        const auto check = [&thing] {
            const auto begin = steady::now();
            EXPECT_FALSE(thing.wait_until(odd_clock::time_point(1ms)));
            EXPECT_GT(odd_clock::looks.load(), odd_clock::k_still);
            EXPECT_GE(steady::now() - begin, 2ms);
        };
        odd_clock::looks = 0;
        all.task(check);
        all.finish();
        odd_clock::looks = 0;
        all.thread(check);
        all.finish();
    });
}

}  // namespace
