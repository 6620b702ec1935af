// SPDX-License-Identifier: BSL-1.0
// The recursive mutex: exclusion, depth, order, destruction by the last thread.
#include <quern/sync/recursive_mutex.hpp>

#include "crew.hpp"

#include <mutex>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

class recursive_mutex_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(recursive_mutex_test);

void add_at_depth(quern::recursive_mutex& m, int depth, int& count) {
    const std::scoped_lock lock(m);
    ++count;
    if (depth > 1) {
        add_at_depth(m, depth - 1, count);
    }
    ++count;
}

// Holds: recursive_mutex: One owns it at a time, at any depth, tasks and threads.
// Holds: recursive_mutex: An unlock() that frees it happens before the lock() that takes it next.
TEST_P(recursive_mutex_test, excludes_tasks_and_threads_at_any_depth) {
    constexpr int k_tasks = 50;
    constexpr int k_threads = 3;
    constexpr int k_each = 200;
    constexpr int k_depth = 5;
    quern::recursive_mutex m;
    int count = 0;
    const auto add = [&] {
        for (int i = 0; i < k_each; ++i) {
            add_at_depth(m, k_depth, count);
        }
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task(add);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(add);
    }
    all.finish();
    EXPECT_EQ(count, (k_tasks + k_threads) * k_each * 2 * k_depth);
}

// Holds: recursive_mutex: Its holder may lock() and try_lock() it again.
// Holds: recursive_mutex: It is free when every lock() has been unlocked, and not before.
// Holds: recursive_mutex: try_lock() returns false when another one holds it, and does not fail
//     spuriously.
TEST_P(recursive_mutex_test, is_free_only_when_every_lock_has_been_unlocked) {
    quern::recursive_mutex m;
    const auto is_free = [&] {
        bool taken = false;
        all.thread([&] {
            taken = m.try_lock();
            if (taken) {
                m.unlock();
            }
        });
        all.finish();
        return taken;
    };
    m.lock();
    EXPECT_TRUE(m.try_lock());
    m.lock();
    EXPECT_FALSE(is_free());
    m.unlock();
    m.unlock();
    EXPECT_FALSE(is_free());
    m.unlock();
    EXPECT_TRUE(is_free());
}

// Holds: recursive_mutex: A task may suspend while it holds it.
TEST_P(recursive_mutex_test, stays_held_while_its_holder_is_suspended) {
    quern::recursive_mutex m;
    bool inside = false;
    int done = 0;
    for (int i = 0; i < 200; ++i) {
        all.task([&] {
            const std::scoped_lock outer(m);
            EXPECT_FALSE(inside);
            inside = true;
            let_others_run();  // may resume on another worker
            {
                const std::scoped_lock inner(m);
                let_others_run();
            }
            inside = false;
            ++done;
        });
    }
    all.finish();
    EXPECT_EQ(done, 200);
}

// Holds: recursive_mutex: unlock() hands it to the waiters in their order. **Differs**: unspecified
//     there.
TEST_P(recursive_mutex_test, goes_to_those_who_wait_in_their_order) {
    constexpr int k_waiting = 30;
    quern::recursive_mutex m;
    std::vector<int> order;
    m.lock();
    m.lock();
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            const std::scoped_lock lock(m);
            order.push_back(i);
        });
        all.settle();
    }
    m.unlock();
    m.unlock();
    all.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: recursive_mutex: It may be destroyed as soon as it has neither holder nor waiter.
TEST_P(recursive_mutex_test, is_destroyed_by_the_last_who_leaves) {
    struct shared {
        quern::recursive_mutex m;
        int users;
    };
    const auto leave = [](shared* s) {
        s->m.lock();
        s->m.lock();
        const bool last = --s->users == 0;
        s->m.unlock();
        s->m.unlock();
        if (last) {
            delete s;
        }
    };
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto* s = new shared{{}, 4};
        for (int t = 0; t < 3; ++t) {
            all.task([=] { leave(s); });
        }
        leave(s);
    }
    all.finish();
}

constinit quern::recursive_mutex k_static;

// Holds: recursive_mutex: It can be initialised statically, and neither copied nor moved.
TEST(recursive_mutex_test_of_types, can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::recursive_mutex>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::recursive_mutex>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::recursive_mutex>);
    const std::scoped_lock lock(k_static);
}

// Holds: recursive_mutex: unlock() by another one than the holder aborts. **Differs**: undefined
//     there.
TEST(recursive_mutex_death_test, unlocking_what_one_does_not_hold_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(quern::recursive_mutex().unlock(), "does not hold it");
}

}  // namespace
