// SPDX-License-Identifier: BSL-1.0
// Waits with a limit: the properties of single types. Common ones are in timed_test.cpp.
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>

#include "crew.hpp"

#include <chrono>
#include <memory>
#include <shared_mutex>
#include <stop_token>
#include <system_error>

namespace {

using namespace std::chrono_literals;
using quern_test::k_sanitized;
using steady = std::chrono::steady_clock;

class timed_particulars : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(timed_particulars);

// Holds: timed_mutex: The holder of a timed_mutex, and the writer of a shared one, get
//     std::system_error(resource_deadlock_would_occur). **Differs**: undefined there.
// Holds: timed_mutex: The holder of a recursive_timed_mutex locks it again at once.
TEST_P(timed_particulars, a_mutex_refuses_its_holder_and_a_recursive_one_does_not) {
    quern::timed_mutex once;
    quern::shared_timed_mutex shared;
    quern::recursive_timed_mutex again;
    const auto check = [&] {
        const std::scoped_lock lock(once, shared, again);
        EXPECT_THROW((void)once.try_lock_for(1h), std::system_error);
        EXPECT_THROW((void)shared.try_lock_for(1h), std::system_error);
        EXPECT_THROW((void)shared.try_lock_shared_for(1h), std::system_error);
        EXPECT_TRUE(again.try_lock_for(0s));
        again.unlock();
    };
    check();
    all.task(check);
    all.finish();
    EXPECT_TRUE(again.try_lock());
    again.unlock();
}

// Holds: timed_mutex: std::unique_lock and std::shared_lock take them.
TEST_P(timed_particulars, the_locks_of_the_standard_take_them) {
    quern::timed_mutex m;
    quern::shared_timed_mutex shared;
    all.task([&] {
        const std::unique_lock lock(m, 1h);
        EXPECT_TRUE(lock.owns_lock());
        const std::shared_lock reader(shared, steady::now() + 1h);
        EXPECT_TRUE(reader.owns_lock());
        EXPECT_FALSE(std::unique_lock(shared, 1ms).owns_lock());
    });
    all.finish();
}

// Holds: timed_mutex: A writer that leaves the queue lets the readers behind it in if readers hold
//     it.
TEST_P(timed_particulars, readers_behind_a_writer_that_leaves_are_admitted) {
    quern::shared_timed_mutex m;
    quern::event inside;
    m.lock_shared();
    all.task([&] { EXPECT_FALSE(m.try_lock_for(20ms)); });
    all.settle_but_for_timers();
    for (int i = 0; i < 2; ++i) {
        all.task([&] {
            const std::shared_lock lock(m);
            inside.set();
        });
    }
    inside.wait();  // while the test is still a reader
    m.unlock_shared();
    all.finish();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: counting_semaphore: A permit that comes when the time has passed is not lost.
TEST_P(timed_particulars, a_permit_that_comes_late_is_not_lost) {
    quern::counting_semaphore<> s(0);
    for (int i = 0; i < 3; ++i) {
        all.task([&] { EXPECT_FALSE(s.try_acquire_for(1ms)); });
    }
    all.finish();
    s.release(2);
    EXPECT_TRUE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
}

// Holds: channel: Closing ends the timed waits too.
TEST_P(timed_particulars, a_channel_that_is_closed_ends_the_wait) {
    quern::channel<int> empty;
    quern::channel<int> full(1);
    full.send(1);
    all.task([&] { EXPECT_FALSE(empty.try_receive_for(24h).has_value()); });
    all.task([&] { EXPECT_THROW(full.try_send_for(2, 24h), quern::channel_closed); });
    all.settle_but_for_timers();
    empty.close();
    full.close();
    all.finish();
    EXPECT_EQ(full.try_receive_for(0s), 1);
}

// Holds: channel: A value that is not sent in time is left alone.
TEST_P(timed_particulars, a_value_that_is_not_sent_is_left_alone) {
    quern::channel<std::unique_ptr<int>> full(1);
    full.send(nullptr);
    auto value = std::make_unique<int>(7);
    EXPECT_FALSE(full.try_send_for(std::move(value), 1ms));
    ASSERT_TRUE(value != nullptr);
    full.receive();
    EXPECT_TRUE(full.try_send_for(std::move(value), 1ms));
    EXPECT_EQ(*full.receive().value(), 7);
}

/// A task waits with that limit, is notified, and cannot lock the mutex until the limit has passed.
/// Empty if the limit passed before the notification.
std::optional<std::cv_status> notified_in_time(quern_test::crew& all, steady::duration limit) {
    quern::mutex m;
    quern::condition_variable changed;
    steady::time_point deadline;
    auto status = std::cv_status::timeout;
    all.task([&] {
        std::unique_lock lock(m);
        deadline = steady::now() + limit;
        status = changed.wait_until(lock, deadline);
        EXPECT_TRUE(lock.owns_lock());
    });
    all.settle_but_for_timers();
    bool in_time = false;
    {
        const std::scoped_lock lock(m);
        changed.notify_one();
        in_time = steady::now() < deadline;
        std::this_thread::sleep_until(deadline + 5ms);
    }
    all.finish();
    return in_time ? std::optional(status) : std::nullopt;
}

// Holds: condition_variable: wait_for() and wait_until() return no_timeout when notified in time,
//     however long the mutex takes then.
TEST_P(timed_particulars, who_has_been_notified_waits_for_the_mutex_however_long_it_takes) {
    std::optional<std::cv_status> status;
    for (auto limit = steady::duration(20ms); !status && limit < 10s; limit *= 2) {
        status = notified_in_time(all, limit);
    }
    EXPECT_EQ(status, std::cv_status::no_timeout);
}

// Holds: condition_variable: wait_for() and wait_until() return std::cv_status::timeout when the
//     time has come first, not before it, with the lock held.
TEST_P(timed_particulars, who_has_not_been_notified_in_time_has_the_mutex_all_the_same) {
    quern::mutex m;
    quern::condition_variable changed;
    std::atomic<bool> went_on{false};
    bool held_by_test = false;
    const auto wait = [&] {
        std::unique_lock lock(m);
        EXPECT_EQ(changed.wait_for(lock, 3ms), std::cv_status::timeout);
        EXPECT_FALSE(held_by_test);
        went_on = true;
    };
    all.task(wait);
    all.thread(wait);
    {
        const std::scoped_lock lock(m);
        held_by_test = true;
        std::this_thread::sleep_for(6ms);
        held_by_test = false;
    }
    all.finish();
    EXPECT_TRUE(went_on.load());
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: condition_variable: A wait for no time lets others have the mutex.
TEST_P(timed_particulars, a_wait_for_no_time_lets_others_have_the_mutex) {
    quern::mutex m;
    quern::condition_variable changed;
    bool ready = false;
    all.task([&] {
        std::unique_lock lock(m);
        while (!ready) {
            changed.wait_for(lock, 0s);
        }
    });
    all.task([&] {
        const std::scoped_lock lock(m);
        ready = true;
    });
    all.finish();
    EXPECT_TRUE(ready);
}

/// All waiters have been notified, or their limits have passed: none touches it again.
template <class Variable>
void destroy_after_notify_all(quern_test::crew& all) {
    constexpr int k_waiting = 4;
    const int rounds = k_sanitized ? 200 : 1'000;
    for (int i = 0; i < rounds; ++i) {
        quern::mutex m;
        auto changed = std::make_unique<Variable>();
        std::atomic<int> waiting{0};
        for (int w = 0; w < k_waiting; ++w) {
            all.task([&, limit = std::chrono::microseconds(10 * (i % 20) + w)] {
                std::unique_lock lock(m);
                ++waiting;
                changed->wait_for(lock, limit);
            });
        }
        while (waiting.load() != k_waiting) {
            std::this_thread::yield();
        }
        {
            const std::scoped_lock lock(m);  // all waiters have left the mutex
            changed->notify_all();
            changed.reset();
        }
        all.finish();
    }
}

// Holds: condition_variable: After timed waits it may be destroyed when all have been notified or
//     their limits have passed.
TEST_P(timed_particulars, a_condition_variable_is_destroyed_right_after_notify_all) {
    destroy_after_notify_all<quern::condition_variable>(all);
}

// Holds: condition_variable_any: After timed waits it may be destroyed when all have been notified
//     or their limits have passed.
TEST_P(timed_particulars, a_condition_variable_any_is_destroyed_right_after_notify_all) {
    destroy_after_notify_all<quern::condition_variable_any>(all);
}

// Holds: condition_variable_any: With a stop token and a limit either ends the wait.
TEST_P(timed_particulars, a_stop_request_and_a_limit_both_end_a_wait) {
    quern::shared_mutex m;
    quern::condition_variable_any changed;
    std::stop_source stop;
    const auto never = [] { return false; };
    all.task([&] {
        std::shared_lock lock(m);
        EXPECT_FALSE(changed.wait_for(lock, stop.get_token(), 1ms, never));
        EXPECT_FALSE(stop.stop_requested());
    });
    all.finish();
    all.task([&] {
        std::shared_lock lock(m);
        EXPECT_FALSE(changed.wait_for(lock, stop.get_token(), 24h, never));
        EXPECT_TRUE(stop.stop_requested());
        EXPECT_TRUE(changed.wait_for(lock, stop.get_token(), 24h, [] { return true; }));
    });
    all.settle_but_for_timers();
    stop.request_stop();
    all.finish();
}

}  // namespace
