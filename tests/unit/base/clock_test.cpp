// SPDX-License-Identifier: BSL-1.0
// The tick counter: it never decreases, and its rate agrees with the monotonic clock.
#include <quern/base/detail/clock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace {

using quern::detail::ns_per_tick;
using quern::detail::tick_count;
using quern::detail::ticks;
using quern::detail::ticks_of_ns;

TEST(ticks, never_go_back_on_one_thread) {
    tick_count before = ticks();
    for (int i = 0; i < 100'000; ++i) {
        const tick_count now = ticks();
        ASSERT_GE(now, before);
        before = now;
    }
}

TEST(ticks, agree_with_the_monotonic_clock) {
    using clock = std::chrono::steady_clock;
    const double rate = ns_per_tick();
    double best = 1;  // a preemption between two readings can only make a sample worse
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto start = clock::now();
        const tick_count first = ticks();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const auto end = clock::now();
        const tick_count last = ticks();
        const double wall = std::chrono::duration<double, std::nano>(end - start).count();
        const double error = static_cast<double>(last - first) * rate / wall - 1;
        best = std::min(best, std::abs(error));
    }
    EXPECT_LT(best, 0.005);
}

TEST(ns_per_tick, is_measured_once) {
    const double rate = ns_per_tick();
    EXPECT_GT(rate, 0);
    double other = 0;
    std::thread([&other] { other = ns_per_tick(); }).join();
    EXPECT_EQ(rate, other);
}

TEST(ticks_of_ns, is_the_inverse_of_ns_per_tick) {
    EXPECT_EQ(ticks_of_ns(0), 0U);
    const double back = static_cast<double>(ticks_of_ns(1e9)) * ns_per_tick();
    EXPECT_NEAR(back, 1e9, 10 * ns_per_tick());
}

}  // namespace
