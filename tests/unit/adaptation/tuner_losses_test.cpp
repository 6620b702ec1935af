// SPDX-License-Identifier: BSL-1.0
// A tuner beside other programs: costs less losses, results that are not sure, and what a search
// may spend. All of it is computed; nothing is timed.
#include <quern/adaptation/tuner.hpp>

#include "unit/adaptation/error_of.hpp"
#include "unit/adaptation/searches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::error_of;
using quern_test::k_general;
using quern_test::run;

// Holds: tuner: A point is judged by its cost less what its workers lost; the confidence is what they
//     got.
TEST(tuner_losses_test, judges_costs_less_losses) {
    tuner search(space({integer("x", 0, 3)}), strategy::exhaustive);
    EXPECT_EQ(search.confidence(), 0);
    const double lost[] = {0, 0.5, 0, 0.3};
    run(search, [&](const point& p) {
        const double share = lost[static_cast<std::size_t>(p["x"])];
        const double alone = p["x"] == 1 ? 3 : 4;  // the best one is disturbed most
        return measured{.cost = alone / (1 - share), .lost = share};
    });
    EXPECT_EQ(search.best()["x"], 1);
    EXPECT_DOUBLE_EQ(search.best_cost(), 3);
    tuner doubts(space({integer("x", 0, 1)}), strategy::exhaustive);
    run(doubts, [&](const point& p) {  // 40 % of the loss may belong to an earlier trial
        return p["x"] == 0 ? measured{.cost = 4}
                           : measured{.cost = 8, .lost = 0.6, .lost_error = 0.4};
    });
    EXPECT_EQ(doubts.best()["x"], 0);
    EXPECT_DOUBLE_EQ(doubts.confidence(), 0.7);
    EXPECT_DOUBLE_EQ(search.confidence(), 0.8);
    EXPECT_NE(search.why().find("not sure: the workers got 80 % of their time"), std::string::npos)
        << search.why();
    const trial next = search.ask();
    EXPECT_EQ(error_of([&] { search.tell(next, measured{.cost = 1, .lost = 1}); }),
              "quern: a lost share of 1 for x=1; accepted: numbers from 0 to below 1");
    search.tell(next, 3);
}

// Holds: tuner: A result that is not sure is tried again, each time after twice as many entries, until
//     it is sure.
TEST(tuner_losses_test, tries_an_unsure_result_again) {
    tuner search(space({integer("x", 0, 7)}), strategy::exhaustive);
    double lost = 0.5;
    const auto cost = [&](const point& p) {
        return measured{.cost = (1 + p["x"]) / (1 - lost), .lost = lost};
    };
    std::vector<int> at;  // entries before each search
    int entries = 0;
    for (int i = 0; i < 2000; ++i) {
        lost = search.restarts() < 3 ? 0.5 : 0.01;
        const std::size_t before = search.restarts();
        const trial next = search.ask();
        entries += next.is_search ? 0 : 1;
        search.tell(next, cost(next.where));
        if (search.restarts() != before) {
            at.push_back(std::exchange(entries, 0));
            EXPECT_NE(search.why().find("was found beside other programs"), std::string::npos)
                << search.why();
        }
    }
    EXPECT_EQ(at, (std::vector<int>{50, 100, 200}));
    EXPECT_NEAR(search.confidence(), 0.99, 1e-9);
    EXPECT_EQ(search.best()["x"], 0);
}

// Holds: tuner: A search that is no surer than the one before changes nothing.
TEST(tuner_losses_test, keeps_what_a_surer_search_has_found) {
    for (const double later : {0.7, 0.01}) {
        tuner search(space({integer("x", 0, 7)}), strategy::exhaustive);
        run(search, [](const point& p) { return measured{.cost = 1 + p["x"], .lost = 0.5}; });
        for (int i = 0; i < 1000 && search.restarts() == 0; ++i) {
            search.tell(search.ask(), 0.5);
        }
        ASSERT_EQ(search.restarts(), 1U);
        run(search, [&](const point& p) { return measured{.cost = 9 - p["x"], .lost = later}; });
        EXPECT_EQ(search.best()["x"], later == 0.7 ? 0 : 7);
        EXPECT_DOUBLE_EQ(search.confidence(), later == 0.7 ? 0.5 : 0.99);
    }
}

// Holds: tuner: With confirms_drift a program that takes part of the machine is no drift, and a
//     change of the program's own cost is.
TEST(tuner_losses_test, tells_a_neighbour_from_a_drift) {
    for (const strategy how : {strategy::hill_climbing, strategy::nelder_mead, strategy::model}) {
        tuner search(space({integer("g", 1, 4096).by_ratio().starting_at(1)}), how,
                     {.confirms_drift = true});
        double factor = 1;
        std::size_t looks = 0;
        const auto enter = [&](double load) {
            const trial next = search.ask();
            const bool sees = search.wants_losses();
            looks += sees && search.converged() ? 1 : 0;
            const double grain = next.where["g"];
            const double cost = factor * load;
            search.tell(next, measured{.cost = cost * (1 + 20 / grain + grain / 3000),
                                       .running = cost * (1 + grain / 3000),
                                       .overhead = cost * 20 / grain,
                                       .lost = sees ? 1 - 1 / load : 0});
        };
        for (int i = 0; i < 4000; ++i) {
            enter((i / 400) % 2 == 0 ? 1 : 2);
        }
        EXPECT_EQ(search.restarts(), 0U) << name_of(how);
        EXPECT_LE(looks, 100U) << name_of(how);
        EXPECT_GT(looks, 0U) << name_of(how);
        for (int i = 0; i < 400; ++i) {  // half of a loss is not seen
            const trial next = search.ask();
            const double grain = next.where["g"];
            search.tell(next, measured{.cost = 2 * (1 + 20 / grain + grain / 3000),
                                       .running = 2 * (1 + grain / 3000),
                                       .overhead = 40 / grain,
                                       .lost = search.wants_losses() ? 0.5 : 0,
                                       .lost_error = 0.25});
        }
        EXPECT_EQ(search.restarts(), 0U) << name_of(how);
        factor = 2;
        for (int i = 0; i < 2000 && search.restarts() == 0; ++i) {
            enter(1);
        }
        EXPECT_EQ(search.restarts(), 1U) << name_of(how);
    }
}

// Holds: tuner: A trial that is discarded with its cost counts as spent, and is asked again when there
//     is something to spend.
TEST(tuner_losses_test, counts_what_discarded_trials_have_cost) {
    tuner search(space({integer("x", 0, 3)}), strategy::exhaustive, {.most_spent = 0.1});
    search.tell(search.ask(), 1);
    const trial disturbed = search.ask();
    ASSERT_TRUE(disturbed.is_search);
    EXPECT_NE(error_of([&] { search.discard(disturbed, std::nan("")); }), "");
    search.discard(disturbed, 101);
    EXPECT_EQ(search.trials(), 1U);
    trial next = search.ask();
    int entries = 0;
    for (; !next.is_search && entries < 10'000; ++entries) {
        search.tell(next, 1);
        next = search.ask();
    }
    EXPECT_EQ(entries, 898);  // 100 of 1000, with the 102 before
    EXPECT_EQ(next.where, disturbed.where);
}

// Holds: tuner: A search adds no more to the costs than most_spent, and ends all the same.
TEST(tuner_losses_test, spends_no_more_than_its_share) {
    for (const strategy how : k_general) {
        tuner search(space({integer("x", 0, 100)}), how, {.tolerance = 0.01, .most_spent = 0.1});
        const auto cost = [](const point& p) { return 1 + std::abs(p["x"] - 20); };
        double all = 0;
        double spent = 0;
        double dearest = 0;
        int entries = 0;
        while (!search.converged() && entries < 100'000) {
            const trial next = search.ask();
            search.tell(next, cost(next.where));
            all += cost(next.where);
            dearest = std::max(dearest, cost(next.where));
            spent += next.is_search ? cost(next.where) - search.best_cost() : 0;
            ++entries;
            if (!next.is_search) {
                EXPECT_EQ(next.where, search.best());
            }
        }
        EXPECT_TRUE(search.converged()) << name_of(how);
        EXPECT_LE(search.best_cost(), 4) << name_of(how);
        EXPECT_LE(spent, 0.1 * all + dearest) << name_of(how);  // the last trial may exceed it
        EXPECT_GT(spent, 0) << name_of(how);
    }
    EXPECT_NE(
        error_of([] { tuner(space({integer("x", 0, 9)}), strategy::random, {.most_spent = 0}); }),
        "no error");
}

// Holds: tuner: What is remembered with little confidence is where the search begins.
TEST(tuner_losses_test, searches_from_what_is_remembered_and_not_sure) {
    const auto cost = [](const point& p) { return 1 + std::abs(p["x"] - 20); };
    for (const double confidence : {1.0, 0.5}) {
        tuner search(space({integer("x", 0, 100)}), strategy::hill_climbing, {.tolerance = 0.01},
                     {{40}, 21, confidence});
        const std::vector<point> tried = run(search, cost);
        EXPECT_EQ(tried.front()["x"], 40);
        EXPECT_EQ(tried.size() == 1, confidence == 1.0);
        EXPECT_EQ(search.best()["x"], confidence == 1.0 ? 40 : 20);
    }
}

}  // namespace
