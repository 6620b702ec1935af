// SPDX-License-Identifier: BSL-1.0
// The state machines of the rules of inlining, with the published numbers.
#include "inlining/inlining_rules.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using quern::adaptation::detail::adaptive_rule;
using quern::adaptation::detail::baseline_rule;
using quern::adaptation::detail::child_mode;
using quern::adaptation::detail::quern_rule;

constexpr double k_us = 1'000;  // ns

void add(baseline_rule& to, int times, double us) {
    for (int i = 0; i < times; ++i) {
        to.add(us * k_us);
    }
}

void add(adaptive_rule& to, std::uint64_t times, double us) {
    for (std::uint64_t i = 0; i < times; ++i) {
        to.add(us * k_us);
    }
}

TEST(baseline_rule, decides_nothing_before_five_executions) {
    baseline_rule rule;
    add(rule, 4, 1);
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    add(rule, 1, 1);
    EXPECT_EQ(rule.mode(), child_mode::inlined);
}

TEST(baseline_rule, inlines_up_to_350_us_and_spawns_from_500_us) {
    for (const double us : {350.0, 351.0, 499.0, 500.0}) {
        baseline_rule rule;
        add(rule, 5, us);
        EXPECT_EQ(rule.mode(), us <= 350 ? child_mode::inlined : child_mode::spawned) << us;
    }
}

TEST(baseline_rule, keeps_the_mode_between_the_thresholds) {
    baseline_rule rule;
    add(rule, 5, 350);
    add(rule, 5, 600);  // mean 475
    EXPECT_EQ(rule.mode(), child_mode::inlined);
    add(rule, 3, 600);  // mean 503.8
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    add(rule, 10, 300);  // mean 415.2
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    add(rule, 20, 250);
    EXPECT_EQ(rule.mode(), child_mode::inlined);
}

TEST(baseline_rule, takes_the_mean_of_all_executions) {
    baseline_rule rule;
    add(rule, 100, 100);
    add(rule, 10, 1'000);
    EXPECT_NEAR(rule.mean_ns(), 2e5 * 20 / 22, 1);
    EXPECT_EQ(rule.executions(), 110U);
    EXPECT_EQ(rule.mode(), child_mode::inlined);
}

TEST(adaptive_rule, begins_with_425_and_75_us) {
    for (const double us : {350.0, 351.0, 499.0, 500.0}) {
        adaptive_rule rule;
        add(rule, 4, us);
        EXPECT_FALSE(rule.has_session());
        add(rule, 1, us);
        EXPECT_TRUE(rule.has_session());
        EXPECT_EQ(rule.threshold_us(), 425);
        EXPECT_EQ(rule.mode(), us <= 350 ? child_mode::inlined : child_mode::spawned) << us;
    }
}

TEST(adaptive_rule, asks_for_a_threshold_every_50_executions) {
    adaptive_rule rule;
    add(rule, 49, 100);
    EXPECT_EQ(rule.threshold_us(), 425);
    EXPECT_EQ(rule.executions(), 49U);
    add(rule, 1, 100);
    EXPECT_EQ(rule.executions(), 0U);  // a new window
    EXPECT_GE(rule.threshold_us(), 200);
    EXPECT_LE(rule.threshold_us(), 1'000);
    EXPECT_EQ(std::fmod(rule.threshold_us(), 100), 0);
}

TEST(adaptive_rule, keeps_the_mode_until_a_window_has_five) {
    adaptive_rule rule;
    add(rule, 50, 100);
    ASSERT_EQ(rule.mode(), child_mode::inlined);
    add(rule, 4, 5'000);
    EXPECT_EQ(rule.mode(), child_mode::inlined);
    add(rule, 1, 5'000);
    EXPECT_EQ(rule.mode(), child_mode::spawned);
}

// The time depends on the mode alone: spawned children take 480 us, inlined ones 620.
TEST(adaptive_rule, converges_to_a_threshold_with_the_least_mean) {
    adaptive_rule rule;
    int windows = 0;
    for (; !rule.is_converged() && windows < 200; ++windows) {
        for (int i = 0; i < 50; ++i) {
            rule.add((rule.mode() == child_mode::spawned ? 480 : 620) * k_us);
        }
    }
    EXPECT_TRUE(rule.is_converged()) << windows;
    EXPECT_FALSE(rule.has_session());
    const double threshold = rule.threshold_us();
    add(rule, 500, 480);
    EXPECT_EQ(rule.threshold_us(), threshold);  // nothing is tried any more
}

TEST(quern_rule, needs_eight_samples) {
    quern_rule rule;
    rule.update(10, 7, {.task_ns = 100, .inlined_ns = 50});
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    rule.update(10, 8, {.task_ns = 100, .inlined_ns = 50});
    EXPECT_EQ(rule.mode(), child_mode::inlined_if_fed);
}

TEST(quern_rule, spawns_what_is_long_against_the_overhead) {
    constexpr quern_rule::costs k_now{.task_ns = 200, .inlined_ns = 50};  // the limit is 10 us
    quern_rule rule;
    rule.update(9'000, 100, k_now);
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    rule.update(7'900, 100, k_now);
    EXPECT_EQ(rule.mode(), child_mode::inlined_if_fed);
    rule.update(12'400, 100, k_now);
    EXPECT_EQ(rule.mode(), child_mode::inlined_if_fed);
    rule.update(12'600, 100, k_now);
    EXPECT_EQ(rule.mode(), child_mode::spawned);
}

TEST(quern_rule, spawns_where_a_queued_task_costs_no_more) {
    quern_rule rule;
    rule.update(10, 100, {.task_ns = 30, .inlined_ns = 60});
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    rule.update(10, 100, {.task_ns = 74, .inlined_ns = 60});
    EXPECT_EQ(rule.mode(), child_mode::spawned);
    rule.update(10, 100, {.task_ns = 76, .inlined_ns = 60});
    EXPECT_EQ(rule.mode(), child_mode::inlined_if_fed);
    rule.update(10, 100, {.task_ns = 60, .inlined_ns = 60});  // as inlined children cost
    EXPECT_EQ(rule.mode(), child_mode::inlined_if_fed);
}

}  // namespace
