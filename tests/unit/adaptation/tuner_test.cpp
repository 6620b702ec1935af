// SPDX-License-Identifier: BSL-1.0
// The tuner: what it asks, what it accepts, and that each search finds the least cost. All of it is
// computed; nothing is timed. The search `model` has tests of its own.
#include <quern/adaptation/tuner.hpp>

#include "unit/adaptation/error_of.hpp"
#include "unit/adaptation/searches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::error_of;
using quern_test::k_general;
using quern_test::run;

double bowl(const point& p) {
    return 1 + std::pow(p["x"] - 37, 2) / 100 + std::pow(p["y"] - 12, 2) / 50;
}

space plane() { return space({integer("x", 0, 100), integer("y", 0, 100)}); }

// Holds: tuner: exhaustive tries every allowed point once, and the best is the least.
TEST(tuner_test, exhaustive_tries_every_point_once) {
    space where({integer("x", 0, 9), choice("how", {"rows", "columns", "tiles"})});
    where.require([](const point& p) { return p["x"] != 5; }, "x is not 5");
    tuner search(where, strategy::exhaustive);
    const auto cost = [](const point& p) {
        return std::abs(p["x"] - 7) + (p.word("how") == "columns" ? 0 : 10);
    };
    const std::vector<point> tried = run(search, cost);
    std::set<std::string> texts;
    for (const point& each : tried) {
        texts.insert(each.text());
    }
    EXPECT_EQ(tried.size(), 27U);
    EXPECT_EQ(texts.size(), 27U);
    EXPECT_EQ(search.best().text(), "x=7, how=columns");
    EXPECT_EQ(search.best_cost(), 0);
    EXPECT_EQ(search.trials(), 27U);
    EXPECT_EQ(search.why(), "every point has been tried");
}

// Holds: tuner: random begins at the start and ends at most_trials.
TEST(tuner_test, random_ends_at_its_limit) {
    tuner search(plane(), strategy::random, {.most_trials = 50});
    const std::vector<point> tried = run(search, bowl);
    EXPECT_EQ(tried.size(), 50U);
    EXPECT_EQ(tried.front(), plane().start());
    EXPECT_EQ(search.why(), "the limit of 50 trials is reached");
    tuner once(plane(), strategy::random, {.most_trials = 1});
    run(once, bowl);
    EXPECT_EQ(once.why(), "the limit of 1 trial is reached");
}

// Holds: tuner: Each search comes near the least cost of a bowl.
TEST(tuner_test, searches_find_the_bottom_of_a_bowl) {
    for (const strategy how : k_general) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            tuner search(plane(), how, {.seed = seed, .tolerance = 0.01});
            run(search, bowl);
            EXPECT_LE(search.best_cost(), 1.5) << name_of(how) << ", seed " << seed;
        }
    }
}

// Holds: tuner: Equal seeds and costs give equal points; other seeds give others.
TEST(tuner_test, is_deterministic) {
    for (const strategy how : {strategy::nelder_mead, strategy::parallel_rank_order,
                               strategy::simulated_annealing, strategy::random}) {
        const auto points = [&](std::uint64_t seed) {
            tuner search(plane(), how, {.seed = seed});
            return run(search, bowl);
        };
        EXPECT_EQ(points(3), points(3)) << name_of(how);
        EXPECT_NE(points(3), points(4)) << name_of(how);
    }
}

// Holds: tuner: The best is never worse than the start.
TEST(tuner_test, is_never_worse_than_the_start) {
    for (const strategy how : k_general) {
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            tuner search(space({integer("x", 0, 100).starting_at(50)}), how, {.seed = seed});
            run(search, [](const point& p) { return p["x"] == 50 ? 1 : 2; });  // a needle
            EXPECT_EQ(search.best()["x"], 50) << name_of(how) << ", seed " << seed;
        }
    }
}

// Holds: tuner: Repetitions alternate among the points of a request; the median counts.
TEST(tuner_test, repetitions_alternate_and_give_a_median) {
    tuner search(space({integer("x", 1, 3)}), strategy::exhaustive, {.repetitions = 3});
    int turn = 0;
    const std::vector<point> tried = run(search, [&](const point& p) {
        return ++turn == 1 ? 1000 : p["x"];  // the first trial is disturbed
    });
    ASSERT_EQ(tried.size(), 9U);
    for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(tried[i]["x"], 1 + static_cast<double>(i % 3)) << i;
    }
    EXPECT_EQ(search.best()["x"], 1);
}

// Holds: tuner: A point that does not work is told as +infinity and never the best.
TEST(tuner_test, infinite_costs_are_infeasible_points) {
    for (const strategy how : k_general) {
        tuner search(space({integer("x", 0, 100).starting_at(90)}), how);
        run(search, [](const point& p) {
            return p["x"] < 40 ? std::numeric_limits<double>::infinity() : p["x"];
        });
        EXPECT_GE(search.best()["x"], 40) << name_of(how);
        EXPECT_LE(search.best()["x"], 50) << name_of(how);
    }
}

// Holds: tuner: Forbidden points are never asked.
TEST(tuner_test, forbidden_points_are_never_asked) {
    for (const strategy how : k_general) {
        space where = plane();
        where.require([](const point& p) { return p["x"] + p["y"] <= 60; }, "x + y <= 60");
        tuner search(where, how, {.tolerance = 0.02});
        for (const point& each : run(search, bowl)) {
            EXPECT_LE(each["x"] + each["y"], 60) << name_of(how);
        }
        EXPECT_LE(search.best_cost(), 3) << name_of(how);
    }
}

// Holds: tuner: Several trials may be outstanding; when no further point is to be tried before
//     one of them is told, a trial is the best point so far and no part of the search.
TEST(tuner_test, gives_several_trials_at_a_time) {
    tuner search(plane(), strategy::parallel_rank_order);
    std::vector<trial> open;
    for (trial next = search.ask(); next.is_search; next = search.ask()) {
        open.push_back(next);
    }
    EXPECT_EQ(open.size(), 4U);  // the start, and three corners
    const trial extra = search.ask();
    EXPECT_FALSE(extra.is_search);
    EXPECT_EQ(extra.where, plane().start());
    search.tell(extra, bowl(extra.where));
    EXPECT_EQ(search.trials(), 0U);
    for (auto each = open.rbegin(); each != open.rend(); ++each) {
        search.tell(*each, bowl(each->where));
    }
    EXPECT_EQ(search.trials(), 4U);
    EXPECT_TRUE(search.ask().is_search);
}

// Holds: tuner: A discarded trial is asked again.
TEST(tuner_test, asks_a_discarded_trial_again) {
    tuner search(space({integer("x", 1, 2)}), strategy::exhaustive);
    const trial first = search.ask();
    const trial second = search.ask();
    search.discard(first);
    EXPECT_EQ(search.ask().where, first.where);
    search.tell(second, 1);
    EXPECT_FALSE(search.converged());
}

// Holds: tuner: Errors name the trial and what is accepted.
TEST(tuner_test, refuses_wrong_results) {
    tuner search(space({integer("x", 1, 2)}), strategy::exhaustive);
    const trial first = search.ask();
    EXPECT_EQ(error_of([&] {
                  search.tell(trial{first.where, 77, true}, 1);
              }),
              "quern: trial 77 of x=1 was not asked; accepted: what ask() has returned");
    EXPECT_EQ(error_of([&] { search.tell(first, std::nan("")); }),
              "quern: a cost of nan for x=1; accepted: numbers, and +infinity for a point that "
              "does not work");
    EXPECT_NE(error_of([&] { search.tell(first, -std::numeric_limits<double>::infinity()); }),
              "no error");
    search.tell(first, 1);  // it was still outstanding
    EXPECT_EQ(error_of([&] { search.tell(first, 1); }),
              "quern: trial 1 of x=1 is told already, or is not what was asked");
    EXPECT_NE(error_of([&] { search.discard(first); }), "no error");
}

// Holds: tuner: Strategies and options that do not fit are refused with the reason.
TEST(tuner_test, refuses_what_cannot_be_searched) {
    EXPECT_EQ(error_of([] { tuner(space({real("x", 0, 1)}), strategy::exhaustive); }),
              "quern: exhaustive search cannot try every value of the real parameter 'x'; "
              "accepted: integer, power_of_two, choice");
    EXPECT_EQ(error_of([] { tuner(plane(), strategy::model); }),
              "quern: the strategy model searches one parameter; this space has 2; nelder-mead "
              "and parallel-rank-order search several");
    EXPECT_NE(error_of([] { tuner(plane(), strategy::random, {.repetitions = 0}); }), "no error");
    EXPECT_NE(error_of([] { tuner(plane(), strategy::random, {.tolerance = 1}); }), "no error");
    EXPECT_NE(error_of([] { tuner(plane(), strategy::random, {.drift = std::nan("")}); }),
              "no error");
    EXPECT_NE(error_of([] { strategy_named("neldermead"); }).find("did you mean 'nelder-mead'?"),
              std::string::npos);
    EXPECT_EQ(strategy_named("model"), strategy::model);
}

// Holds: tuner: When the best point's cost has changed for good, the search starts again there.
TEST(tuner_test, starts_again_when_the_cost_drifts) {
    double best_x = 20;
    const auto cost = [&](const point& p) { return 1 + std::abs(p["x"] - best_x); };
    tuner search(space({integer("x", 0, 100)}), strategy::hill_climbing, {.tolerance = 0.01});
    run(search, cost);
    EXPECT_EQ(search.best()["x"], 20);
    for (int i = 0; i < 20; ++i) {  // no drift
        search.tell(search.ask(), 1.1);
    }
    EXPECT_EQ(search.restarts(), 0U);
    best_x = 70;
    for (int i = 0; i < 5 && search.restarts() == 0; ++i) {
        const trial next = search.ask();
        EXPECT_EQ(next.where["x"], 20);
        search.tell(next, cost(next.where));
    }
    EXPECT_EQ(search.restarts(), 1U);
    EXPECT_NE(search.why().find("the search starts again"), std::string::npos) << search.why();
    run(search, cost);
    EXPECT_EQ(search.best()["x"], 70);
}

// Holds: tuner: While a search is repeated, the earlier best stays the best until another point costs
//     less than it does now.
TEST(tuner_test, keeps_the_earlier_best_until_there_is_a_better_one) {
    for (const strategy how :
         {strategy::hill_climbing, strategy::nelder_mead, strategy::parallel_rank_order,
          strategy::simulated_annealing, strategy::random, strategy::exhaustive, strategy::model}) {
        double load = 1;
        const auto cost = [&](const point& p) {
            const double grain = p["g"];
            return measured{.cost = load * (1 + 20 / grain + grain / 3000),
                            .running = load * (1 + grain / 3000),
                            .overhead = load * 20 / grain};
        };
        tuner search(space({integer("g", 1, 4096).by_ratio().starting_at(1)}), how);
        run(search, cost);
        const point before = search.best();
        EXPECT_GT(before["g"], 20) << name_of(how);
        for (int i = 0; i < 20; ++i) {
            const trial next = search.ask();
            search.tell(next, cost(next.where));
        }
        load = 2;
        for (int i = 0; i < 100 && search.restarts() == 0; ++i) {
            const trial next = search.ask();
            search.tell(next, cost(next.where));
        }
        ASSERT_EQ(search.restarts(), 1U) << name_of(how);
        double least = search.best_cost();
        EXPECT_EQ(search.best(), before) << name_of(how);
        EXPECT_EQ(least, cost(before).cost) << name_of(how);
        while (!search.converged()) {
            const trial next = search.ask();
            search.tell(next, cost(next.where));
            if (!search.converged()) {
                EXPECT_LE(search.best_cost(), least) << name_of(how);
                least = search.best_cost();
            }
        }
    }
}

// Holds: tuner: What is remembered is the best before there is a result.
TEST(tuner_test, what_is_remembered_is_the_best_at_first) {
    const tuner search(space({integer("x", 0, 100)}), strategy::hill_climbing, {}, {{70}, 1});
    EXPECT_EQ(search.best()["x"], 70);
    const tuner other(space({integer("x", 0, 100)}), strategy::hill_climbing, {}, {{700}, 1});
    EXPECT_EQ(other.best()["x"], 50);
}

// Holds: tuner: A slow change of the cost adds up to a drift.
TEST(tuner_test, notices_a_slow_drift) {
    tuner search(space({integer("x", 0, 7)}), strategy::exhaustive);
    run(search, [](const point& p) { return 1 + p["x"]; });
    for (int i = 0; i < 2000 && search.restarts() == 0; ++i) {
        const trial next = search.ask();
        search.tell(next, (1 + next.where["x"]) * (1 + 0.0005 * i));
    }
    EXPECT_EQ(search.restarts(), 1U);
}

// Holds: tuner: The first simplex has n + 1 corners of equal distance, inside the space; then
//     Nelder-Mead reflects the worst corner about the centre of the others.
TEST(tuner_test, nelder_mead_reflects_the_worst_corner) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        tuner search(space({real("x", 0, 1), real("y", 0, 1)}), strategy::nelder_mead,
                     {.seed = seed});
        const trial start = search.ask();
        search.tell(start, 100);  // not part of the simplex: worse than all corners
        std::vector<trial> corners;
        for (int i = 0; i < 3; ++i) {
            corners.push_back(search.ask());
            ASSERT_TRUE(corners.back().is_search);
        }
        const auto x = [](const trial& t) { return t.where["x"]; };
        const auto y = [](const trial& t) { return t.where["y"]; };
        const auto apart = [&](const trial& a, const trial& b) {
            return std::hypot(x(a) - x(b), y(a) - y(b));
        };
        EXPECT_NEAR(apart(corners[0], corners[1]), apart(corners[1], corners[2]), 1e-12);
        EXPECT_NEAR(apart(corners[0], corners[1]), apart(corners[0], corners[2]), 1e-12);
        for (int i = 0; i < 3; ++i) {
            search.tell(corners[static_cast<std::size_t>(i)], i);  // the last is the worst
        }
        const double rx = x(corners[0]) + x(corners[1]) - x(corners[2]);
        const double ry = y(corners[0]) + y(corners[1]) - y(corners[2]);
        const trial next = search.ask();
        if (rx >= 0 && rx <= 1 && ry >= 0 && ry <= 1) {
            EXPECT_NEAR(x(next), rx, 1e-12) << seed;
            EXPECT_NEAR(y(next), ry, 1e-12) << seed;
            search.tell(next, -1);  // better than the best: it expands
            const double ex = rx + (x(corners[0]) + x(corners[1])) / 2 - x(corners[2]);
            const double ey = ry + (y(corners[0]) + y(corners[1])) / 2 - y(corners[2]);
            if (ex >= 0 && ex <= 1 && ey >= 0 && ey <= 1) {
                const trial expanded = search.ask();
                EXPECT_NEAR(x(expanded), ex, 1e-12) << seed;
                EXPECT_NEAR(y(expanded), ey, 1e-12) << seed;
            }
        } else {  // outside costs +infinity: it contracts inside
            EXPECT_NEAR(x(next), (x(corners[0]) + x(corners[1])) / 4 + x(corners[2]) / 2, 1e-12);
            EXPECT_NEAR(y(next), (y(corners[0]) + y(corners[1])) / 4 + y(corners[2]) / 2, 1e-12);
        }
    }
}

// Holds: tuner: Parallel Rank Ordering reflects all other corners through the best, shrinks towards
//     it when no reflection is better, and expands the best reflection first.
TEST(tuner_test, rank_ordering_reflects_and_shrinks_as_a_whole) {
    tuner search(space({real("x", -100, 100).starting_at(-50)}), strategy::parallel_rank_order);
    search.tell(search.ask(), 50);  // the start
    trial low = search.ask();
    trial high = search.ask();
    if (low.where["x"] < high.where["x"]) {
        std::swap(low, high);  // a reflection of -100 through 0 is inside
    }
    EXPECT_NEAR(std::abs(low.where["x"] - high.where["x"]), 100, 1e-9);
    search.tell(low, 1);
    search.tell(high, 2);
    const trial reflected = search.ask();
    EXPECT_NEAR(reflected.where["x"], 2 * low.where["x"] - high.where["x"], 1e-9);
    // Worse: it shrinks, to the start, whose cost of 50 is known; so that is reflected.
    search.tell(reflected, 3);
    const trial again = search.ask();
    EXPECT_NEAR(again.where["x"], 50, 1e-9);
    // Better: it would expand to 100, whose cost is known and worse. Then 0 through 50 is 100
    // again, so it shrinks.
    search.tell(again, 0);
    const trial shrunk = search.ask();
    EXPECT_NEAR(shrunk.where["x"], 25, 1e-9);
    search.tell(shrunk, -1);  // the best: 50 is reflected through it to 0, which is known
    EXPECT_NEAR(search.ask().where["x"], 37.5, 1e-9);
}

}  // namespace
