// SPDX-License-Identifier: BSL-1.0
// The spin lock: exclusion, and progress with more threads than cores. The guarded data is plain,
// so that ThreadSanitizer detects races.
#include <quern/base/detail/spin_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using quern::detail::crowded_lock;
using quern::detail::spin_lock;

void run_threads(int count, const auto& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back(body);
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

template <class Lock>
void expect_exclusion() {
    constexpr int k_each = 20'000;
    for (const int threads : {1, 2, 8}) {
        Lock lock;
        long count = 0;
        run_threads(threads, [&] {
            for (int i = 0; i < k_each; ++i) {
                const std::scoped_lock guard(lock);
                ++count;
            }
        });
        EXPECT_EQ(count, long{k_each} * threads);
    }
}

TEST(spin_lock, keeps_all_but_one_out) { expect_exclusion<spin_lock>(); }
TEST(spin_lock, keeps_all_but_one_out_of_a_crowded_lock) { expect_exclusion<crowded_lock>(); }

TEST(spin_lock, yields_to_a_holder_that_is_not_running) {
    spin_lock lock;
    int value = 0;
    lock.lock();
    std::thread waiting([&] {
        const std::scoped_lock guard(lock);
        EXPECT_EQ(value, 1);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    value = 1;
    lock.unlock();
    waiting.join();
}

TEST(spin_lock, try_lock_takes_a_free_lock_and_refuses_a_held_one) {
    spin_lock lock;
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST(spin_lock, try_lock_excludes_as_lock_does) {
    spin_lock lock;
    long count = 0;
    std::atomic<long> taken{0};
    run_threads(4, [&] {
        for (int i = 0; i < 20'000; ++i) {
            if (lock.try_lock()) {
                ++count;
                lock.unlock();
                taken.fetch_add(1, std::memory_order_relaxed);
            }
        }
    });
    EXPECT_EQ(count, taken.load());
}

}  // namespace
