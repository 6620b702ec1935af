// SPDX-License-Identifier: BSL-1.0
// The sliding semaphore: no task is further ahead than the window, and no waiter is forgotten.
#include <quern/sync/sliding_semaphore.hpp>

#include "crew.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class sliding_semaphore_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(sliding_semaphore_test);

// Holds: sliding_semaphore: wait(n) returns when n is at most max_difference above the number
//     signalled last.
TEST_P(sliding_semaphore_test, keeps_one_side_from_running_further_ahead_than_the_window) {
    constexpr std::int64_t k_window = 5;
    const std::int64_t steps = k_sanitized ? 500 : 5'000;
    quern::sliding_semaphore window(k_window);
    std::atomic<std::int64_t> done{0};
    std::atomic<std::int64_t> begun{0};
    std::atomic<int> wrong{0};
    const auto lead = [&] {
        for (std::int64_t step = 1; step <= steps; ++step) {
            window.wait(step);
            wrong += step <= done.load() + k_window ? 0 : 1;
            begun = step;
        }
    };
    const auto follow = [&] {
        for (std::int64_t step = 1; step <= steps; ++step) {
            while (begun.load() < step) {
                std::this_thread::yield();
            }
            done = step;
            window.signal(step);
        }
    };
    all.task(lead);
    all.thread(follow);
    all.finish();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(begun.load(), steps);
}

// Holds: sliding_semaphore: wait(n) returns when...
// Holds: sliding_semaphore: signal(n) moves the lower limit up; it does nothing when it is there
//     already or further.
// Holds: sliding_semaphore: try_wait(n): whether wait(n) would return at once.
// Holds: sliding_semaphore: Tasks and threads may wait.
TEST_P(sliding_semaphore_test, lets_go_on_who_is_in_the_window_and_nobody_else) {
    constexpr std::int64_t k_waiting = 30;
    quern::sliding_semaphore window(0);
    std::mutex log_lock;
    std::vector<std::int64_t> log;
    for (std::int64_t i = 0; i < k_waiting; ++i) {
        const std::int64_t number = 1 + (i * 7) % k_waiting;  // in another order
        const auto wait = [&, number] {
            window.wait(number);
            const std::scoped_lock lock(log_lock);
            log.push_back(number);
        };
        if (i % 10 == 0) {
            all.thread(wait);
        } else {
            all.task(wait);
        }
    }
    all.settle();
    EXPECT_TRUE(window.try_wait(0));
    EXPECT_FALSE(window.try_wait(1));
    for (std::int64_t signalled = 3; signalled <= k_waiting; signalled += 3) {
        window.signal(signalled);
        window.signal(signalled - 1);  // lower: no effect
        for (std::size_t size = 0; size != static_cast<std::size_t>(signalled);) {
            std::this_thread::yield();
            const std::scoped_lock lock(log_lock);
            size = log.size();
            ASSERT_LE(size, static_cast<std::size_t>(signalled));
        }
        const std::scoped_lock lock(log_lock);
        EXPECT_EQ(*std::max_element(log.begin(), log.end()), signalled);
    }
    all.finish();
}

// Holds: sliding_semaphore: Tasks resume in the order of their numbers, equal ones in the order of
//     waiting.
TEST_P(sliding_semaphore_test, wakes_by_number_and_then_in_the_order_of_waiting) {
    quern::sliding_semaphore window(0);
    std::vector<std::pair<int, int>> order;
    crew one(1);  // runs woken tasks one after another
    for (int i = 0; i < 12; ++i) {
        one.task([&, i] {
            const int number = 4 - i % 4;
            window.wait(number);
            order.emplace_back(number, i);
        });
        one.settle();
    }
    all.task([&] { window.signal(4); });
    all.finish();
    one.finish();
    EXPECT_EQ(order.size(), 12U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Holds: sliding_semaphore: set_max_difference() changes size and place of the window, also to a
//     smaller number, and wakes the waiters inside it.
// Holds: sliding_semaphore: Numbers may go to the ends of their range.
TEST_P(sliding_semaphore_test, lets_those_go_on_whom_a_new_window_holds) {
    quern::sliding_semaphore window(1, 10);
    std::atomic<int> passed{0};
    window.wait(11);
    for (const int number : {20, 30}) {
        all.task([&, number] {
            window.wait(number);
            ++passed;
        });
    }
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    window.set_max_difference(10, 10);
    all.settle();
    EXPECT_EQ(passed.load(), 1);
    window.set_max_difference(0, 5);
    EXPECT_FALSE(window.try_wait(6));
    window.signal(std::numeric_limits<std::int64_t>::max());
    all.finish();
    EXPECT_EQ(passed.load(), 2);
}

// Holds: sliding_semaphore: It may be destroyed as soon as every wait() has returned, while the
//     signal() that let it has not.
TEST_P(sliding_semaphore_test, is_destroyed_right_after_wait) {
    const int rounds = k_sanitized ? 1'000 : 10'000;
    for (int i = 0; i < rounds; ++i) {
        auto window = std::make_unique<quern::sliding_semaphore>(1);
        all.task([&w = *window] { w.signal(4); });
        window->wait(5);
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto window = std::make_unique<quern::sliding_semaphore>(1);
            all.task([&w = *window] { w.signal(4); });
            window->wait(5);
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

// Holds: sliding_semaphore: A negative max_difference is std::invalid_argument, and changes
//     nothing.
TEST(sliding_semaphore_test_of_limits, a_negative_difference_is_an_error_that_changes_nothing) {
    EXPECT_THROW(quern::sliding_semaphore(-1), std::invalid_argument);
    quern::sliding_semaphore window(2);
    EXPECT_THROW(window.set_max_difference(-1), std::invalid_argument);
    EXPECT_TRUE(window.try_wait(2));
    EXPECT_FALSE(window.try_wait(3));
}

}  // namespace
