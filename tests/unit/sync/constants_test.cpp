// SPDX-License-Identifier: BSL-1.0
// Types that the standard initialises as constants, so that static objects may use them before
// main, are constants here too; and the largest count.
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>

namespace {

constinit quern::mutex g_mutex;
constinit quern::once_flag g_once;
constinit quern::latch g_latch(1);
constinit quern::counting_semaphore<> g_semaphore(1);
constinit quern::binary_semaphore g_binary(0);
constinit quern::barrier<> g_barrier(1);

// Holds: call_once: It can be initialised as a constant.
// Holds: latch: It can be initialised as a constant.
// Holds: barrier: It can be initialised as a constant.
TEST(constants_test, are_ready_for_static_objects) {
    g_mutex.lock();
    g_mutex.unlock();
    int calls = 0;
    quern::call_once(g_once, [&calls] { ++calls; });
    EXPECT_EQ(calls, 1);
    g_latch.count_down();
    g_latch.wait();
    g_semaphore.acquire();
    EXPECT_FALSE(g_binary.try_acquire());
    g_barrier.arrive_and_wait();
}

constexpr std::ptrdiff_t k_largest = std::numeric_limits<std::ptrdiff_t>::max();

// Holds: counting_semaphore: max() is LeastMax, which may be the largest number; binary_semaphore
//     has 1; it cannot be copied.
TEST(constants_test, of_a_semaphore_may_be_the_largest_number) {
    quern::counting_semaphore<k_largest> full(k_largest);
    EXPECT_EQ(full.max(), k_largest);
    EXPECT_EQ(quern::counting_semaphore<>::max(), k_largest);
    full.acquire();
    full.release();
    quern::counting_semaphore<k_largest> none(0);
    none.release(k_largest);
    EXPECT_TRUE(none.try_acquire());
}

// Holds: counting_semaphore: release() of more than max(), or of n below 0, aborts. **Differs**:
//     undefined there.
TEST(constants_death_test, of_a_semaphore_are_not_passed) {
    quern::counting_semaphore<k_largest> full(k_largest);
    EXPECT_DEATH(full.release(), "above its maximum");
}

}  // namespace
