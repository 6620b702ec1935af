// SPDX-License-Identifier: BSL-1.0
// Who moves, by rules with given loads; and objects that move by loads that were measured.
#include "on_job.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/localities/balance.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::balance_rule;
using quern::localities::balancer;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::move_all;
using quern::localities::object;
using quern::localities::rebalanced;
using quern::localities::rebalancing;
using namespace quern::localities::detail;

std::vector<placed_object> at_first(const std::vector<double>& loads) {
    std::vector<placed_object> objects;
    for (const double each : loads) {
        objects.push_back({each, 0});
    }
    return objects;
}

double imbalance_after(const std::vector<placed_object>& objects, int places, balance_rule rule) {
    return imbalance_of(loads_of(after(objects, plan_moves(objects, places, rule)), places));
}

// Holds: balancer: rules make loads as equal as these can be.
TEST(balance_plan, makes_loads_equal) {
    const auto objects = at_first({5, 4, 3, 3, 2, 2, 2, 1, 1, 1});
    for (const balance_rule rule : {balance_rule::greedy, balance_rule::refine}) {
        EXPECT_DOUBLE_EQ(imbalance_after(objects, 2, rule), 1.0);
        EXPECT_LE(imbalance_after(objects, 3, rule), 1.125);  // 24 in three: 8, or 9
    }
    EXPECT_DOUBLE_EQ(imbalance_after(objects, 2, balance_rule::none), 2.0);
}

// Holds: balancer: refine moves few objects, and none of equal loads.
TEST(balance_plan, moves_few) {
    std::vector<placed_object> objects;
    for (int i = 0; i < 40; ++i) {
        objects.push_back({1.0, i % 4});
    }
    EXPECT_TRUE(plan_moves(objects, 4, balance_rule::refine).empty());
    EXPECT_TRUE(plan_moves(objects, 4, balance_rule::greedy).empty());
    objects[0].load = 5;  // 14, 10, 10, 10: a mean of 11
    const auto moves = plan_moves(objects, 4, balance_rule::refine);
    EXPECT_EQ(moves.size(), 3U);
    for (const planned_move& each : moves) {
        EXPECT_EQ(objects[each.object].place, 0);
        EXPECT_NE(each.to, 0);
    }
    EXPECT_DOUBLE_EQ(imbalance_of(loads_of(after(objects, moves), 4)), 1.0);
}

// Holds: balancer: many small objects are as good as few.
TEST(balance_plan, moves_many_small_ones) {
    for (const std::size_t count : {50U, 51U, 60U, 1000U}) {
        const auto objects = at_first(std::vector<double>(count, 0.125));
        EXPECT_LE(imbalance_after(objects, 2, balance_rule::refine), 1.03) << count;
        EXPECT_LE(imbalance_after(objects, 3, balance_rule::refine), 1.08) << count;
    }
}

TEST(balance_plan, knows_what_cannot_be_better) {
    EXPECT_TRUE(plan_moves(at_first({7}), 3, balance_rule::refine).empty());
    EXPECT_TRUE(plan_moves({}, 3, balance_rule::refine).empty());
    EXPECT_TRUE(plan_moves(at_first({0, 0, 0}), 2, balance_rule::refine).empty());
    EXPECT_DOUBLE_EQ(imbalance_of({0, 0}), 1.0);
}

/// Against all ways to place few objects.
TEST(balance_plan, is_near_the_best) {
    const std::vector<double> loads{9, 8, 7, 6, 5, 4, 3};
    double best = 100;
    for (unsigned way = 0; way < (1U << loads.size()); ++way) {
        double one = 0;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            one += ((way >> i) & 1U) != 0 ? loads[i] : 0;
        }
        best = std::min(best, std::max(one, 42 - one) / 21);
    }
    EXPECT_LE(imbalance_after(at_first(loads), 2, balance_rule::greedy), best * 7 / 6);
    EXPECT_LE(imbalance_after(at_first(loads), 2, balance_rule::refine), best * 7 / 6);
}

struct worker {
    int turns = 0;
    int work(int us) {
        const auto end = quern::detail::ticks() + quern::detail::ticks_of_ns(1000.0 * us);
        while (quern::detail::ticks() < end) {
        }
        return ++turns;
    }
    int done() const { return turns; }
};

class balance_test : public on_job {};
QUERN_ON_1_2_WORKERS(balance_test);

int place_of(const object<worker>& one) {
    return one.call([](const worker&) { return here(); }).get();
}

/// Each has so much to do.
void let_work(const std::vector<object<worker>>& workers, int us) {
    std::vector<quern::future<int>> done;
    for (const object<worker>& each : workers) {
        for (int i = 0; i < 5; ++i) {
            done.push_back(each.call(&worker::work, us));
        }
    }
    for (auto& each : done) {
        each.get();
    }
}

// Holds: balancer: objects that have much to do at one locality move to others.
TEST_P(balance_test, spreads_objects) {
    std::vector<object<worker>> workers;
    for (int i = 0; i < 8 * count(); ++i) {
        workers.push_back(make_at<worker>(here()));
    }
    const balancer<worker> balance(workers, balance_rule::greedy);
    let_work(workers, 200);
    const rebalanced found = balance.rebalance().get();
    EXPECT_EQ(found.loads.size(), static_cast<std::size_t>(count()));
    EXPECT_GE(std::accumulate(found.loads.begin(), found.loads.end(), 0.0),
              8 * count() * 5 * 200e-6);
    EXPECT_EQ(found.moved > 0, count() > 1) << found.why;
    std::vector<int> places(static_cast<std::size_t>(count()), 0);
    for (const object<worker>& each : workers) {
        ++places[static_cast<std::size_t>(place_of(each))];
        EXPECT_EQ(each.call(&worker::done).get(), 5);
    }
    for (const int each : places) {
        EXPECT_GT(each, 0);
    }
}

// Holds: balancer: a decision is in the log, with why.
TEST_P(balance_test, says_why) {
    std::vector<object<worker>> workers{make_at<worker>(here())};
    const balancer<worker> none(workers, balance_rule::none);
    let_work(workers, 10);
    const rebalanced found = none.rebalance().get();
    EXPECT_EQ(found.moved, 0U);
    EXPECT_EQ(found.why, "the rule none moves no object");
    const auto log = quern::adaptation::decisions();
    const auto own = std::find_if(log.rbegin(), log.rend(), [](const auto& each) {
        return each.policy == "rebalance" && each.why == "the rule none moves no object";
    });
    ASSERT_NE(own, log.rend());
    EXPECT_EQ(own->subject.substr(0, 12), "places of 1 ");
}

// Holds: rebalancing: objects move without a call of rebalance(), and none after its end.
TEST_P(balance_test, moves_at_intervals) {
    std::vector<object<worker>> workers;
    for (int i = 0; i < 4 * count(); ++i) {
        workers.push_back(make_at<worker>(here()));
    }
    const balancer<worker> balance(workers);
    rebalancing kept = balance.every(std::chrono::milliseconds(5));
    while (kept.calls() < 3 || (count() > 1 && kept.moved() == 0)) {
        let_work(workers, 100);
    }
    kept.stop();
    const std::uint64_t calls = kept.calls();
    EXPECT_EQ(kept.moved() > 0, count() > 1);
    let_work(workers, 100);
    EXPECT_EQ(kept.calls(), calls);
    kept = rebalancing();
    const auto log = quern::adaptation::decisions();
    EXPECT_NE(std::find_if(log.rbegin(), log.rend(),
                           [](const auto& each) { return each.policy == "rebalance"; }),
              log.rend());
}

// Holds: balancer: after moves it says what they have changed.
TEST_P(balance_test, says_what_was_gained) {
    std::vector<object<worker>> workers;
    for (int i = 0; i < 4 * count(); ++i) {
        workers.push_back(make_at<worker>(here()));
    }
    const balancer<worker> balance(workers, balance_rule::greedy);
    let_work(workers, 200);
    const rebalanced first = balance.rebalance().get();
    EXPECT_DOUBLE_EQ(first.gained, 1.0);
    let_work(workers, 200);
    const rebalanced second = balance.rebalance().get();
    if (count() > 1) {
        EXPECT_DOUBLE_EQ(second.gained, second.imbalance / first.imbalance);
        EXPECT_NE(second.why.find("before the last moves it was "), std::string::npos);
    } else {
        EXPECT_DOUBLE_EQ(second.gained, 1.0);
    }
}

// Holds: move_all: each object moves once, with its state.
TEST_P(balance_test, moves_all) {
    std::vector<object<worker>> workers;
    for (int i = 0; i < 6; ++i) {
        workers.push_back(make_at<worker>(i % count(), i));
    }
    move_all(workers).get();
    for (int i = 0; i < 6; ++i) {
        const object<worker>& one = workers[static_cast<std::size_t>(i)];
        EXPECT_EQ(place_of(one), locality_after(i % count()));
        EXPECT_EQ(one.call(&worker::done).get(), i);
    }
}

}  // namespace
