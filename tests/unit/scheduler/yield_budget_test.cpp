// SPDX-License-Identifier: BSL-1.0
// When a searching worker stops yielding: after a yield that took long, for a time in proportion.
#include <quern/scheduler/detail/yield_budget.hpp>

#include <gtest/gtest.h>

namespace {

using quern::detail::tick_count;
using quern::detail::ticks_of_ns;
using quern::detail::yield_budget;

const tick_count k_start = ticks_of_ns(1e9);
const tick_count k_us = ticks_of_ns(1e3);
const tick_count k_ms = ticks_of_ns(1e6);
const tick_count k_s = ticks_of_ns(1e9);

TEST(yield_budget_test, short_yields_are_always_allowed) {
    yield_budget yields;
    for (tick_count now = k_start; now < k_start + 10 * k_ms; now += 100 * k_us) {
        ASSERT_TRUE(yields.may_yield(now));
        yields.spend(now, now + 100 * k_us);
    }
}

TEST(yield_budget_test, a_long_yield_forbids_more_for_a_hundred_times_as_long) {
    yield_budget yields;
    const tick_count after = k_start + 28 * k_ms;
    yields.spend(k_start, after);
    EXPECT_FALSE(yields.may_yield(after));
    EXPECT_FALSE(yields.may_yield(after + 2799 * k_ms));
    EXPECT_TRUE(yields.may_yield(after + 2801 * k_ms));
}

TEST(yield_budget_test, a_process_that_was_stopped_yields_again_within_ten_seconds) {
    yield_budget yields;
    const tick_count after = k_start + 3600 * k_s;
    yields.spend(k_start, after);
    EXPECT_FALSE(yields.may_yield(after + 9 * k_s));
    EXPECT_TRUE(yields.may_yield(after + 11 * k_s));
}

TEST(yield_budget_test, a_clock_that_runs_back_between_processors_costs_nothing) {
    yield_budget yields;
    yields.spend(k_start, k_start - k_us);
    EXPECT_TRUE(yields.may_yield(k_start));
}

TEST(yield_budget_test, a_yield_forbids_no_more_for_ever) {
    yield_budget yields;
    yields.yield();  // on a busy machine it may take long: what it forbids ends by itself
    EXPECT_TRUE(yields.may_yield(quern::detail::ticks() + 11 * k_s));
}

}  // namespace
