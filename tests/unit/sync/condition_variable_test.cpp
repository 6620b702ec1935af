// SPDX-License-Identifier: BSL-1.0
// The condition variable: nothing is lost, the order is kept, a returned waiter owns the mutex.
#include <quern/sync/condition_variable.hpp>

#include "crew.hpp"

#include <deque>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class condition_variable_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(condition_variable_test);

/// The textbook's bounded queue.
struct bounded_queue {
    void put(int value) {
        std::unique_lock lock(m);
        not_full.wait(lock, [&] { return values.size() < 4; });
        values.push_back(value);
        lock.unlock();
        not_empty.notify_one();
    }
    int get() {
        std::unique_lock lock(m);
        not_empty.wait(lock, [&] { return !values.empty(); });
        const int value = values.front();
        values.pop_front();
        not_full.notify_one();
        return value;
    }
    quern::mutex m;
    quern::condition_variable not_full;
    quern::condition_variable not_empty;
    std::deque<int> values;
};

// Holds: condition_variable: wait() unlocks and begins to wait in one step: no notice of one that
//     has locked since is lost.
// Holds: condition_variable: It may be notified with or without the mutex, by task or thread.
TEST_P(condition_variable_test, producers_and_consumers_lose_nothing) {
    constexpr int k_tasks = 10;
    constexpr int k_threads = 2;
    const int each = k_sanitized ? 200 : 1'000;
    bounded_queue queue;
    std::atomic<long> sum{0};
    const auto produce = [&] {
        for (int i = 1; i <= each; ++i) {
            queue.put(i);
        }
    };
    const auto consume = [&] {
        long mine = 0;
        for (int i = 0; i < each; ++i) {
            mine += queue.get();
        }
        sum += mine;
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task(produce);
        all.task(consume);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(produce);
        all.thread(consume);
    }
    all.finish();
    const long n = each;
    EXPECT_EQ(sum.load(), (k_tasks + k_threads) * (n * (n + 1) / 2));
    EXPECT_TRUE(queue.values.empty());
}

// Holds: condition_variable: notify_all() wakes all present waiters.
TEST_P(condition_variable_test, notify_all_lets_a_thousand_go_on) {
    constexpr int k_waiting = 1000;
    constexpr int k_threads = 4;
    quern::mutex m;
    quern::condition_variable changed;
    bool go = false;
    int gone = 0;
    const auto wait = [&] {
        std::unique_lock lock(m);
        changed.wait(lock, [&] { return go; });
        ++gone;
    };
    for (int i = 0; i < k_waiting; ++i) {
        all.task(wait);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(wait);
    }
    all.settle();
    {
        const std::scoped_lock lock(m);
        EXPECT_EQ(gone, 0);
        go = true;
        changed.notify_all();
    }
    all.finish();
    EXPECT_EQ(gone, k_waiting + k_threads);
}

// Holds: condition_variable: notify_one() wakes the longest waiter. **Differs**: unspecified there.
// Holds: condition_variable: There are no spurious wake-ups. **Differs**: allowed there.
// Holds: condition_variable: A notification is not kept for later waiters.
TEST_P(condition_variable_test, notify_one_lets_the_first_go_on_and_nobody_else) {
    constexpr int k_waiting = 20;
    quern::mutex m;
    quern::condition_variable changed;
    std::vector<int> order;
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            std::unique_lock lock(m);
            changed.wait(lock);
            order.push_back(i);
        });
        all.settle();
    }
    for (int i = 0; i < k_waiting; ++i) {
        changed.notify_one();
        all.settle();
        const std::scoped_lock lock(m);
        ASSERT_EQ(order.size(), static_cast<std::size_t>(i) + 1);
        EXPECT_EQ(order.back(), i);
    }
    changed.notify_one();  // no waiter: forgotten
    changed.notify_all();
}

// Holds: condition_variable: notify_all() wakes tasks in the order in which they began to wait.
//     **Differs**: unspecified there.
TEST_P(condition_variable_test, notify_all_keeps_the_order) {
    constexpr std::size_t k_waiting = 30;
    quern::mutex m;
    quern::condition_variable changed;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            std::unique_lock lock(m);
            changed.wait(lock);
            order.push_back(i);
        });
        all.settle();
    }
    m.lock();
    changed.notify_all();
    m.unlock();
    all.finish();
    std::vector<std::size_t> expected(k_waiting);
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    EXPECT_EQ(order, expected);
}

// Holds: condition_variable: wait() returns when notified, with the lock held.
TEST_P(condition_variable_test, the_waiter_holds_the_lock_when_wait_returns) {
    quern::mutex m;
    quern::condition_variable changed;
    int turn = 0;
    const auto ping_pong = [&](int me) {
        for (int i = 0; i < 500; ++i) {
            std::unique_lock lock(m);
            changed.wait(lock, [&] { return turn == me; });
            EXPECT_TRUE(lock.owns_lock());
            EXPECT_FALSE(m.try_lock());
            turn = 1 - me;
            changed.notify_one();
        }
    };
    all.task([&] { ping_pong(0); });
    all.task([&] { ping_pong(1); });
    all.finish();
    EXPECT_EQ(turn, 0);
}

// Holds: condition_variable: wait() with a predicate returns when it is true; it is called with the
//     lock held.
// Holds: condition_variable: An exception of the predicate leaves wait() with the lock held.
TEST_P(condition_variable_test, the_predicate_is_called_with_the_lock_held) {
    quern::mutex m;
    quern::condition_variable changed;
    bool go = false;
    all.task([&] {
        std::unique_lock lock(m);
        changed.wait(lock, [&] {
            EXPECT_FALSE(m.try_lock());
            return go;
        });
        const auto fail = [&]() -> bool {
            EXPECT_FALSE(m.try_lock());
            throw std::runtime_error("predicate");
        };
        EXPECT_THROW(changed.wait(lock, fail), std::runtime_error);
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_FALSE(m.try_lock());
    });
    all.settle();
    {
        const std::scoped_lock lock(m);
        go = true;
    }
    changed.notify_one();
    all.finish();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: condition_variable: It may be destroyed as soon as all that waited have been notified,
//     before they have returned.
TEST_P(condition_variable_test, is_destroyed_by_the_notified_at_once) {
    struct shared {
        quern::mutex m;
        quern::condition_variable changed;
        bool ready = false;
    };
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto* s = new shared;
        all.task([s] {
            {
                std::unique_lock lock(s->m);
                s->changed.wait(lock, [s] { return s->ready; });
            }
            delete s;
        });
        const std::scoped_lock lock(s->m);
        s->ready = true;
        s->changed.notify_one();
    }
}

constinit quern::condition_variable k_static;

// Holds: condition_variable: It can be initialised statically, and neither copied nor moved.
TEST(condition_variable_test_of_types, can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::condition_variable>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::condition_variable>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::condition_variable>);
    k_static.notify_all();
}

// Holds: condition_variable: wait() without the lock aborts. **Differs**: undefined there.
TEST(condition_variable_death_test, waiting_without_the_lock_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    quern::mutex m;
    quern::condition_variable changed;
    std::unique_lock lock(m, std::defer_lock);
    EXPECT_DEATH(changed.wait(lock), "without holding the lock");
}

}  // namespace
