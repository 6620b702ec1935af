// SPDX-License-Identifier: BSL-1.0
// The rules of throttles on synthetic plants: where they settle, how fast, and that they stay. A
// period is a tenth of a second of simulated time; nothing here reads a clock.
#include <quern/adaptation/detail/attach.hpp>

#include "throttling/throttle_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using quern::adaptation::detail::cap_range;
using quern::adaptation::detail::cap_reading;
using quern::adaptation::detail::fewest_rule;
using quern::adaptation::detail::hill_climb_rule;
using quern::adaptation::detail::power_rule;

constexpr unsigned k_minute = 600;  // periods

/// Throughput by number of workers.
struct curve {
    const char* name;
    unsigned workers;
    std::function<double(unsigned)> at;
};

/// Gunther's law: contention and crosstalk.
double law(unsigned n, double contention, double crosstalk) {
    const double x = n;
    return 1000 * x / (1 + contention * (x - 1) + crosstalk * x * (x - 1));
}

/// The losses that a program may have: none, serial parts, bandwidth, crosstalk, and all of the
/// last so that one worker is best.
std::vector<curve> curves() {
    return {
        {"perfect", 8, [](unsigned n) { return 1000.0 * n; }},
        {"serial part", 8, [](unsigned n) { return law(n, 0.1, 0); }},
        {"bandwidth", 8, [](unsigned n) { return 1000.0 * std::min(n, 3U); }},
        {"crosstalk", 8, [](unsigned n) { return law(n, 0.05, 0.04); }},
        {"one is best", 8, [](unsigned n) { return 1000.0 / n; }},
        {"two cores", 2, [](unsigned n) { return law(n, 0.02, 0); }},
        {"one core", 1, [](unsigned n) { return 1000.0 * n; }},
    };
}

double best_of(const curve& of) {
    double best = 0;
    for (unsigned n = 1; n <= of.workers; ++n) {
        best = std::max(best, of.at(n));
    }
    return best;
}

/// Runs a rule from all workers on. Returns the periods until it settled, or `limit`.
template <class Rule>
unsigned periods_to_settle(Rule& rule, const std::function<double(unsigned)>& plant,
                           unsigned limit = 1000) {
    unsigned periods = 0;
    while (periods < limit && !rule.is_settled()) {
        rule.next({.metric = plant(rule.cap())});
        ++periods;
    }
    return periods;
}

/// In how many of the periods it had another cap than at first.
template <class Rule>
unsigned periods_away(Rule& rule, const std::function<double(unsigned)>& plant, unsigned periods) {
    const unsigned first = rule.cap();
    unsigned away = 0;
    for (unsigned i = 0; i < periods; ++i) {
        away += rule.next({.metric = plant(rule.cap())}).cap != first ? 1 : 0;
    }
    return away;
}

hill_climb_rule climb_to_most(unsigned workers, unsigned periods = 1) {
    return {{.range = {1, workers}, .what = hill_climb_rule::aim::most, .periods = periods},
            workers};
}

// Holds: throttle rules: Hill climbing settles within 20 periods on a cap within a band of 5 % of
// the best, and stays there for a minute.
TEST(throttle_rules_test, hill_climbing_finds_the_best_and_stays) {
    for (const curve& each : curves()) {
        hill_climb_rule rule = climb_to_most(each.workers);
        EXPECT_LE(periods_to_settle(rule, each.at), 20U) << each.name;
        EXPECT_GE(each.at(rule.cap()), best_of(each) / 1.05) << each.name << ": " << rule.cap();
        EXPECT_EQ(periods_away(rule, each.at, k_minute), 0U) << each.name;
    }
}

// Holds: throttle rules: From 48 workers it reaches a best cap of 13 within 20 periods.
TEST(throttle_rules_test, hill_climbing_crosses_a_wide_range) {
    // 138 s with 48 workers, 64 s with the best: the shape of the APEX study.
    const auto cost = [](unsigned n) { return 64 + 0.06 * (n - 13.0) * (n - 13.0); };
    hill_climb_rule rule({.range = {1, 48}, .what = hill_climb_rule::aim::least}, 48);
    EXPECT_LE(periods_to_settle(rule, cost), 20U);
    EXPECT_LE(cost(rule.cap()), 64 * 1.05) << rule.cap();
    EXPECT_EQ(periods_away(rule, cost, k_minute), 0U);
}

/// Whether every choice is a trial until the rule has settled, and none for a while afterwards.
template <class Rule>
bool marks_its_trials(Rule& rule, const std::function<double(unsigned)>& plant) {
    for (unsigned i = 0; i < 60; ++i) {
        const auto choice = rule.next({.metric = plant(rule.cap())});
        if (choice.is_trial == rule.is_settled()) {
            return false;
        }
    }
    return rule.is_settled();
}

// Holds: throttle rules: What a rule measures is marked as trials, what it settles on is not; a cap
// for power is always a choice.
TEST(throttle_rules_test, trials_are_marked) {
    for (const curve& each : curves()) {
        hill_climb_rule climb = climb_to_most(each.workers);
        EXPECT_TRUE(marks_its_trials(climb, each.at)) << each.name;
        fewest_rule fewest({.range = {1, each.workers}}, each.workers);
        EXPECT_TRUE(marks_its_trials(fewest, each.at)) << each.name;
    }
    power_rule power({{1, 8}, 20, 30}, 8);
    for (const double watts : {40.0, 40.0, 10.0, 10.0, 10.0, 10.0, 25.0}) {
        EXPECT_FALSE(power.next(watts).is_trial);
    }
}

// Holds: throttle rules: A metric that is the same for every cap, and one that is always 0, change
// no cap.
TEST(throttle_rules_test, hill_climbing_stays_without_a_difference) {
    for (const double value : {0.0, 7.0}) {
        const auto flat = [value](unsigned) { return value; };
        hill_climb_rule rule({.range = {1, 8}, .what = hill_climb_rule::aim::least}, 5);
        EXPECT_LE(periods_to_settle(rule, flat), 20U);
        EXPECT_EQ(rule.cap(), 5U);
        EXPECT_EQ(periods_away(rule, flat, k_minute), 0U);
    }
}

// Holds: throttle rules: Within the band the time per call decides.
TEST(throttle_rules_test, hill_climbing_prefers_shorter_calls_within_the_band) {
    hill_climb_rule rule = climb_to_most(8, 3);
    unsigned periods = 0;
    for (; !rule.is_settled() && periods < 100; ++periods) {
        const double calls = rule.cap() > 2 ? 1000 : 500;
        rule.next({.metric = calls, .time_per_call = 100.0 * rule.cap()});
    }
    EXPECT_EQ(rule.cap(), 3U);
}

// Holds: throttle rules: With noise of 2 % a rule keeps its cap in nine of ten periods, and what it
// finds is within 15 % of the best.
TEST(throttle_rules_test, noise_does_not_make_them_oscillate) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(1, 0.02);
    for (const curve& each : curves()) {
        const auto noisy = [&](unsigned n) { return each.at(n) * noise(random); };
        hill_climb_rule climbs = climb_to_most(each.workers, 3);
        fewest_rule fewest({.range = {1, each.workers}}, each.workers);
        periods_to_settle(climbs, noisy);
        periods_to_settle(fewest, noisy);
        EXPECT_GE(each.at(climbs.cap()), best_of(each) * 0.85) << each.name << ": " << climbs.cap();
        EXPECT_GE(each.at(fewest.cap()), best_of(each) * 0.85) << each.name << ": " << fewest.cap();
        EXPECT_LE(periods_away(climbs, noisy, k_minute), k_minute / 10) << each.name;
        EXPECT_LE(periods_away(fewest, noisy, k_minute), k_minute / 10) << each.name;
    }
}

// Holds: throttle rules: A metric that differs from period to period, as the length of a queue does,
// is no load that has changed: a rule settles within 15 periods and stays.
TEST(throttle_rules_test, a_metric_that_alternates_is_no_drift) {
    const auto queue = [](unsigned n) { return 10 + 3 * std::abs(static_cast<int>(n) - 3); };
    unsigned period = 0;
    const auto alternates = [&](unsigned n) { return queue(n) * (++period % 2 == 0 ? 1.4 : 0.6); };
    hill_climb_rule rule({.range = {1, 8}, .what = hill_climb_rule::aim::least}, 8);
    EXPECT_LE(periods_to_settle(rule, alternates), 15U);
    EXPECT_EQ(periods_away(rule, alternates, k_minute), 0U);

    std::mt19937 random(1);
    std::lognormal_distribution<double> factor(0, 0.3);
    unsigned restarts = 0;
    bool was_settled = false;
    hill_climb_rule noisy({.range = {1, 8}, .what = hill_climb_rule::aim::least}, 8);
    for (unsigned i = 0; i < 10 * k_minute; ++i) {
        noisy.next({.metric = queue(noisy.cap()) * factor(random)});
        restarts += was_settled && !noisy.is_settled() ? 1 : 0;
        was_settled = noisy.is_settled();
    }
    EXPECT_LE(restarts, 3U);
}

// Holds: throttle rules: When the load changes, a rule that has settled measures again, and finds
// the new best within 60 periods.
TEST(throttle_rules_test, a_step_of_the_load_is_answered) {
    const auto narrow = [](unsigned n) { return 1000.0 / n; };
    const auto wide = [](unsigned n) { return 1000.0 * n; };
    hill_climb_rule climbs = climb_to_most(8);
    fewest_rule fewest({.range = {1, 8}}, 8);
    periods_to_settle(climbs, narrow);
    periods_to_settle(fewest, narrow);
    EXPECT_EQ(climbs.cap(), 1U);
    EXPECT_EQ(fewest.cap(), 1U);
    EXPECT_EQ(periods_away(climbs, narrow, 5) + periods_away(fewest, narrow, 5), 0U);
    // With one worker both curves are the same; the step of the speed shows.
    const auto after = [&](unsigned n) { return 0.5 * wide(n); };
    for (unsigned i = 0; i < 30; ++i) {
        climbs.next({.metric = after(climbs.cap())});
        fewest.next({.metric = after(fewest.cap())});
    }
    periods_to_settle(climbs, after, 30);
    periods_to_settle(fewest, after, 30);
    EXPECT_EQ(climbs.cap(), 8U);
    EXPECT_EQ(fewest.cap(), 8U);
}

// Holds: throttle rules: The fewest workers within 2 % of the best throughput are found within 20
// periods, and kept for a minute.
TEST(throttle_rules_test, the_fewest_workers_are_found_and_kept) {
    for (const curve& each : curves()) {
        fewest_rule rule({.range = {1, each.workers}}, each.workers);
        EXPECT_LE(periods_to_settle(rule, each.at), 20U) << each.name;
        EXPECT_GE(each.at(rule.cap()), best_of(each) * 0.93) << each.name << ": " << rule.cap();
        if (rule.cap() > 1) {
            EXPECT_LT(each.at(rule.cap() - 1), best_of(each) * 0.98) << each.name;
        }
        EXPECT_EQ(periods_away(rule, each.at, k_minute), 0U) << each.name;
    }
    fewest_rule rule({.range = {1, 8}}, 8);
    periods_to_settle(rule, [](unsigned n) { return 1000.0 * std::min(n, 3U); });
    EXPECT_EQ(rule.cap(), 3U);
}

// Holds: throttle rules: A machine that becomes slower while two caps are compared does not change
// what is found.
TEST(throttle_rules_test, a_slow_change_of_speed_cancels) {
    double speed = 1;
    const auto slows = [&speed](unsigned n) {
        speed *= 0.997;
        return 1000.0 * std::min(n, 3U) * speed;
    };
    fewest_rule rule({.range = {1, 8}}, 8);
    periods_to_settle(rule, slows);
    EXPECT_EQ(rule.cap(), 3U);
}

/// A chip: idle power, and so much for each worker, with a lag.
struct chip {
    double idle;
    double of_one;
    double lag;  ///< share of the difference that a period makes up for
    double watts = 0;

    double after(unsigned workers) {
        watts += lag * (idle + of_one * workers - watts);
        return watts;
    }
};

// Holds: throttle rules: Above the high cap half of the workers above the least stop, at least one;
// below the low cap one more runs; after a change it waits for three periods.
TEST(throttle_rules_test, the_power_rule_is_that_of_apex) {
    power_rule rule({.range = {1, 9}, .low_watts = 50, .high_watts = 80}, 9);
    EXPECT_EQ(rule.next(100).cap, 5U);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(rule.next(100).cap, 5U) << "it waits";
    }
    EXPECT_EQ(rule.next(100).cap, 3U);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(rule.next(60).cap, 3U);
    }
    EXPECT_EQ(rule.next(60).cap, 3U) << "between the caps";
    EXPECT_EQ(rule.next(40).cap, 3U) << "the mean is above the low cap";
    EXPECT_EQ(rule.next(40).cap, 4U);
    const std::string why =
        power_rule({.range = {1, 4}, .low_watts = 1, .high_watts = 2}, 4).next(3).why;
    EXPECT_EQ(why, "3 W, mean 3 W, above the high cap of 2 W");
}

// Holds: throttle rules: The power rule stays within its range.
TEST(throttle_rules_test, the_power_rule_stays_within_its_range) {
    power_rule rule({.range = {2, 3}, .low_watts = 50, .high_watts = 80}, 9);
    EXPECT_EQ(rule.cap(), 3U);
    for (int i = 0; i < 20; ++i) {
        EXPECT_GE(rule.next(1000).cap, 2U);
    }
    EXPECT_EQ(rule.cap(), 2U);
    for (int i = 0; i < 20; ++i) {
        EXPECT_LE(rule.next(1).cap, 3U);
    }
    EXPECT_EQ(rule.cap(), 3U);
}

// Holds: throttle rules: The power rule answers a step within 20 periods, and does not oscillate
// afterwards, also when the band between the caps is narrower than the power of a worker.
TEST(throttle_rules_test, the_power_rule_does_not_oscillate) {
    for (const double lag : {1.0, 0.5, 0.3}) {
        for (const double low : {60.0, 74.0, 79.0}) {
            chip plant{.idle = 20, .of_one = 10, .lag = lag, .watts = 20};
            power_rule rule({.range = {1, 16}, .low_watts = low, .high_watts = 80}, 16);
            unsigned changes = 0;
            unsigned last = rule.cap();
            unsigned last_change = 0;
            for (unsigned i = 0; i < k_minute; ++i) {
                const unsigned cap = rule.next(plant.after(rule.cap())).cap;
                if (cap != last) {
                    ++changes;
                    last_change = i;
                }
                last = cap;
            }
            EXPECT_LE(plant.watts, 80) << low << " W, lag " << lag;
            EXPECT_LE(changes, 10U) << low << " W, lag " << lag;
            EXPECT_LE(last_change, 50U) << low << " W, lag " << lag;
        }
    }
}

// Holds: throttle rules: When the load becomes lighter, the power rule gives back all workers.
TEST(throttle_rules_test, the_power_rule_gives_workers_back) {
    chip plant{.idle = 20, .of_one = 10, .lag = 0.5};
    power_rule rule({.range = {1, 16}, .low_watts = 60, .high_watts = 80}, 16);
    for (unsigned i = 0; i < 100; ++i) {
        rule.next(plant.after(rule.cap()));
    }
    EXPECT_LE(rule.cap(), 6U);
    plant.of_one = 1;
    for (unsigned i = 0; i < 100; ++i) {
        rule.next(plant.after(rule.cap()));
    }
    EXPECT_EQ(rule.cap(), 16U);
}

// Holds: throttle rules: The power rule notices after 600 periods that a load has ended soon after
// a change.
TEST(throttle_rules_test, the_power_rule_does_not_remember_for_ever) {
    chip plant{.idle = 20, .of_one = 10, .lag = 1};
    power_rule rule({.range = {1, 4}, .low_watts = 30, .high_watts = 35}, 4);
    for (unsigned i = 0; i < 20 && rule.cap() > 1; ++i) {
        rule.next(plant.after(rule.cap()));
    }
    plant.of_one = 0;
    for (unsigned i = 0; i < k_minute - 10; ++i) {
        rule.next(plant.after(rule.cap()));
    }
    EXPECT_EQ(rule.cap(), 1U);
    for (unsigned i = 0; i < 50; ++i) {
        rule.next(plant.after(rule.cap()));
    }
    EXPECT_EQ(rule.cap(), 4U);
}

// Holds: throttle rules: Under an unchanged load the power rule tries a cap that was too hot again
// ever more rarely.
TEST(throttle_rules_test, the_power_rule_tries_again_more_rarely) {
    chip plant{.idle = 20, .of_one = 10, .lag = 1};
    power_rule rule({.range = {1, 8}, .low_watts = 74, .high_watts = 75}, 8);
    std::vector<unsigned> too_hot;
    for (unsigned i = 0; i < 20 * k_minute; ++i) {
        if (plant.after(rule.cap()) > 75) {
            too_hot.push_back(i / k_minute);
        }
        rule.next(plant.watts);
    }
    const auto in = [&](unsigned from, unsigned to) {
        return std::count_if(too_hot.begin(), too_hot.end(),
                             [&](unsigned minute) { return from <= minute && minute < to; });
    };
    EXPECT_GE(in(1, 10), 1);
    EXPECT_LE(in(1, 20), 20) << "of 12000 periods";
    EXPECT_LE(in(10, 20), in(1, 10));
}

}  // namespace
