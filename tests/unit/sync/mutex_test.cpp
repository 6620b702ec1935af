// SPDX-License-Identifier: BSL-1.0
// The mutex: exclusion, order, hand-over, errors, destruction by the last thread. The guarded data
// is plain ints, so that ThreadSanitizer detects races.
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>

#include "crew.hpp"

#include <memory>
#include <mutex>
#include <system_error>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

template <class Lock>
std::errc code_of_second_lock(Lock& m) {
    try {
        m.lock();
    } catch (const std::system_error& error) {
        return static_cast<std::errc>(error.code().value());
    }
    return std::errc{};
}

class mutex_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(mutex_test);

// Holds: mutex: lock() returns when the caller owns it; one owns it at a time, tasks and threads.
// Holds: mutex: An unlock() happens before the lock() or try_lock() that takes it next.
TEST_P(mutex_test, excludes_tasks_and_threads) {
    constexpr int k_tasks = 100;
    constexpr int k_threads = 4;
    constexpr int k_each = quern_test::k_sanitized ? 100 : 1000;
    quern::mutex m;
    int count = 0;
    const auto add = [&] {
        for (int i = 0; i < k_each; ++i) {
            const std::scoped_lock lock(m);
            ++count;
        }
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task(add);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(add);
    }
    all.finish();
    EXPECT_EQ(count, (k_tasks + k_threads) * k_each);
}

// Holds: mutex: A task may suspend while it holds it, and hold it on another worker then.
TEST_P(mutex_test, stays_held_while_its_holder_is_suspended) {
    quern::mutex m;
    bool inside = false;
    int done = 0;
    for (int i = 0; i < 200; ++i) {
        all.task([&] {
            const std::scoped_lock lock(m);
            EXPECT_FALSE(inside);
            inside = true;
            let_others_run();  // may resume on another worker
            inside = false;
            ++done;
        });
    }
    all.finish();
    EXPECT_EQ(done, 200);
}

// Holds: mutex: unlock() hands it to the one that has waited longest. **Differs**: unspecified
//     there.
TEST_P(mutex_test, goes_to_those_who_wait_in_their_order) {
    constexpr int k_waiting = 50;
    quern::mutex m;
    std::vector<int> order;
    m.lock();
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            const std::scoped_lock lock(m);
            order.push_back(i);
            let_others_run();
        });
        all.settle();
    }
    m.unlock();
    all.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: mutex: unlock() hands it to...
TEST_P(mutex_test, belongs_to_the_first_in_the_queue_as_soon_as_it_is_unlocked) {
    quern::mutex m;
    quern::latch tried(1);
    m.lock();
    all.task([&] {
        const std::scoped_lock lock(m);
        tried.wait();
    });
    all.settle();
    m.unlock();
    EXPECT_FALSE(m.try_lock());
    tried.count_down();
    all.finish();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: mutex: try_lock() takes a free mutex, always. **Differs**: may fail spuriously there.
// Holds: mutex: try_lock() returns false when another one holds it.
// Holds: mutex: try_lock() returns false when the caller holds it. **Differs**: undefined there.
// Holds: mutex: unlock() gives it up.
TEST_P(mutex_test, try_lock_takes_a_free_mutex_only) {
    quern::mutex m;
    all.task([&] {
        EXPECT_TRUE(m.try_lock());
        EXPECT_FALSE(m.try_lock());
        m.unlock();
        EXPECT_TRUE(m.try_lock());
        m.unlock();
    });
    all.finish();
    EXPECT_TRUE(m.try_lock());
    all.task([&] { EXPECT_FALSE(m.try_lock()); });
    all.finish();
    m.unlock();
}

// Holds: mutex: lock() by its holder throws std::system_error(resource_deadlock_would_occur), and
//     it stays held once. **Differs**: undefined there.
TEST_P(mutex_test, throws_when_its_holder_locks_again) {
    quern::mutex m;
    const auto lock_twice = [&] {
        m.lock();
        EXPECT_EQ(code_of_second_lock(m), std::errc::resource_deadlock_would_occur);
        m.unlock();
        m.lock();
        m.unlock();
    };
    lock_twice();
    all.task(lock_twice);
    all.finish();
}

// Holds: mutex: lock() by its holder...
TEST_P(mutex_test, throws_also_when_others_wait_for_it) {
    quern::mutex m;
    m.lock();
    all.task([&] { const std::scoped_lock lock(m); });
    all.settle();
    EXPECT_EQ(code_of_second_lock(m), std::errc::resource_deadlock_would_occur);
    m.unlock();
    all.finish();
}

// Holds: mutex: It may be destroyed as soon as it has neither holder nor waiter, even before the
//     unlock() that freed it has returned.
TEST_P(mutex_test, is_destroyed_by_the_last_who_leaves) {
    struct shared {
        quern::mutex m;
        int users;
    };
    const auto leave = [](shared* s) {
        s->m.lock();
        const bool last = --s->users == 0;
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

// Holds: mutex: An unlock() happens before...
TEST_P(mutex_test, shows_what_was_done_before_to_a_try_lock) {
    const int rounds = k_sanitized ? 200 : 2'000;
    quern::mutex m;
    int count = 0;  // plain: ordered only by the mutex
    const auto add = [&] {
        for (int done = 0; done < rounds;) {
            if (m.try_lock()) {
                ++count;
                ++done;
                m.unlock();
            }
        }
    };
    all.task(add);
    all.thread(add);
    all.thread(add);
    all.finish();
    EXPECT_EQ(count, 3 * rounds);
}

// Holds: mutex: A task that waits leaves its worker to others.
TEST_P(mutex_test, leaves_the_worker_to_others_while_it_waits) {
    constexpr int k_waiting = 20;  // more than there are workers
    quern::mutex m;
    int count = 0;
    m.lock();
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&] {
            const std::scoped_lock lock(m);
            ++count;
        });
    }
    quern::latch ran(1);
    all.task([&] { ran.count_down(); });
    ran.wait();
    m.unlock();
    all.finish();
    EXPECT_EQ(count, k_waiting);
}

// Holds: mutex: std::scoped_lock, std::unique_lock and std::lock take it.
TEST_P(mutex_test, works_with_the_locks_of_the_standard) {
    quern::mutex a;
    quern::mutex b;
    int count = 0;
    for (int i = 0; i < 100; ++i) {
        all.task([&, i] {
            if (i % 2 == 0) {
                const std::scoped_lock both(a, b);
                ++count;
            } else {
                const std::scoped_lock both(b, a);
                ++count;
            }
        });
    }
    all.finish();
    std::unique_lock lock(a, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(count, 100);
}

constinit quern::mutex k_static;

// Holds: mutex: It can be initialised statically, and neither copied nor moved.
TEST(mutex_test_of_types, can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::mutex>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::mutex>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::mutex>);
    const std::scoped_lock lock(k_static);
}

// Holds: mutex: unlock() by another one than the holder aborts. **Differs**: undefined there.
TEST(mutex_death_test, unlocking_what_one_does_not_hold_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(quern::mutex().unlock(), "does not hold it");
    EXPECT_DEATH(
        {
            quern::mutex m;
            std::thread([&] { m.lock(); }).join();
            m.unlock();
        },
        "does not hold it");
}

}  // namespace
