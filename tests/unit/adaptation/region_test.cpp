// SPDX-License-Identifier: BSL-1.0
// Regions and tuned numbers: trials around parts of a program, modes, losses, exceptions.
#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/region.hpp>
#include <quern/adaptation/tuned.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>

#include "unit/adaptation/error_of.hpp"
#include "unit/adaptation/regions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::by;
using quern_test::decisions_about;
using quern_test::enter_until_converged;
using quern_test::error_of;
using quern_test::spin_for;
using quern_test::with_setting;

class region_test : public testing::TestWithParam<unsigned> {
protected:
    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(on, region_test, testing::Values(1U, 2U, 8U));

// Holds: region: Each entry is a trial until the search is over, then the best point.
TEST_P(region_test, enters_trials_and_then_the_best) {
    region where("where", space({integer("x", 0, 7)}), by(strategy::exhaustive));
    EXPECT_EQ(enter_until_converged(where, 5), 8);
    EXPECT_EQ(where.trials(), 8U);
    EXPECT_EQ(where.best()["x"], 5);
    EXPECT_EQ(where.enter().where(), where.best());
    EXPECT_EQ(where.why(), "every point has been tried");
}

// Holds: region: entries work from a plain thread and from a task.
TEST_P(region_test, may_be_entered_in_a_task) {
    region where("where", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    quern::async(rt, [&] { enter_until_converged(where, 3); }).get();
    EXPECT_TRUE(where.converged());
}

// Holds: region: The cost is per unit of work.
TEST_P(region_test, divides_the_time_by_the_work) {
    region where("where", space({choice("how", {"little", "much"})}), by(strategy::exhaustive));
    while (!where.converged()) {
        region::entry now = where.enter();
        const bool much = now.where().word("how") == "much";
        spin_for(std::chrono::microseconds(much ? 4000 : 1000));
        now.work(much ? 1000 : 1);  // much takes longer and is cheaper
    }
    EXPECT_EQ(where.best().word("how"), "much");
}

// Holds: region: Work that is no number above 0 is refused.
TEST_P(region_test, refuses_work_that_is_none) {
    region where("solve", space({integer("x", 0, 3)}));
    region::entry now = where.enter();
    try {
        now.work(0);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "quern: region 'solve': 0 units of work; accepted: finite numbers above 0");
    }
    EXPECT_THROW(now.work(std::nan("")), std::invalid_argument);
    now.discard();
    EXPECT_THROW(region("", space({integer("x", 0, 3)})), std::invalid_argument);
}

// Holds: region: An entry that an exception leaves, or that is discarded, is no trial.
TEST_P(region_test, leaves_out_entries_that_fail) {
    region where("where", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    double first = -1;
    try {
        region::entry now = where.enter();
        first = now.where()["x"];
        throw std::runtime_error("in the region");
    } catch (const std::runtime_error&) {
    }
    {
        region::entry again = where.enter();
        EXPECT_EQ(again.where()["x"], first);
        again.discard();
    }
    EXPECT_EQ(where.trials(), 0U);
    EXPECT_EQ(enter_until_converged(where, 0), 4);
}

// Holds: region: With adapt=off every entry gets the start and nothing is measured.
TEST_P(region_test, does_nothing_when_off) {
    const with_setting off("adapt", "off", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    const auto logged = all_totals().decisions;
    region where("where", space({integer("x", 0, 9).starting_at(4)}), by(strategy::exhaustive));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(where.enter().where()["x"], 4);
    }
    EXPECT_EQ(where.trials(), 0U);
    EXPECT_EQ(all_totals().decisions, logged);
}

// Holds: region: With dry-run every entry gets the start, and what would be tried is logged once.
TEST_P(region_test, changes_nothing_in_a_dry_run) {
    const with_setting dry("adapt", "dry-run", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    const std::string name = "dry" + std::to_string(GetParam());
    region where(name, space({integer("x", 0, 9).starting_at(4)}), by(strategy::hill_climbing));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(where.enter().where()["x"], 4);
    }
    EXPECT_EQ(where.trials(), 1U);  // the start
    const std::vector<decision> all = decisions_about(name);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_FALSE(all.back().applied);
    EXPECT_EQ(all.back().before, 4);
    EXPECT_NE(all.back().after, 4);
}

// Holds: region: A dry run of a space of one point ends, and keeps nothing for the next run.
TEST_P(region_test, ends_in_a_dry_run_of_one_point) {
    const with_setting dry("adapt", "dry-run", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    region where("one", space({integer("x", 4, 4)}), by(strategy::exhaustive));
    EXPECT_EQ(where.enter().where()["x"], 4);
    EXPECT_TRUE(where.converged());
    EXPECT_EQ(where.enter().where()["x"], 4);
}

// Holds: region: Each new value is a decision, the last one with the observed effect.
TEST_P(region_test, logs_its_decisions) {
    const std::string name = "logged" + std::to_string(GetParam());
    quern::async(rt, [] {}).get();  // a worker whose thread has not begun has no times
    region where(name, space({integer("x", 0, 3)}), by(strategy::exhaustive));
    enter_until_converged(where, 2);
    const std::vector<decision> all = decisions_about(name);
    ASSERT_GE(all.size(), 4U);
    EXPECT_EQ(all.front().policy, "exhaustive");
    EXPECT_EQ(all.front().after, 0);
    EXPECT_EQ(all.back().after, where.best()["x"]);
    EXPECT_EQ(all.back().why, "every point has been tried");
    ASSERT_TRUE(all.back().observed);
    EXPECT_LE(*all.back().observed, 1);
    EXPECT_NE(all.back().inputs.find(" in tasks, "), std::string::npos) << all.back().inputs;
}

// Holds: region: Its decisions say which are trials, and have the numbers of its parameters; those
//     about choices have words alone.
TEST_P(region_test, names_the_numbers_of_its_decisions) {
    const std::string name = "numbered" + std::to_string(GetParam());
    region where(name, space({integer("x", 0, 2), choice("order", {"rows", "columns"})}),
                 by(strategy::exhaustive));
    enter_until_converged(where, 2);
    const std::vector<decision> all = decisions_about(name);
    ASSERT_GE(all.size(), 2U);
    EXPECT_TRUE(all.front().is_trial);
    EXPECT_FALSE(all.back().is_trial);
    EXPECT_EQ(all.back().after_text, where.best().text());
    ASSERT_EQ(all.back().numbers.size(), 1U);
    EXPECT_EQ(all.back().numbers.front().name, "x");
    EXPECT_EQ(all.back().numbers.front().after, where.best()["x"]);
}

// Holds: region: A trial whose workers lost time is repeated, a few times at most; the first one is
//     not, since the start may be dear.
TEST_P(region_test, repeats_disturbed_trials_a_few_times) {
    region_options options = by(strategy::exhaustive);
    options.most_lost = 1e-12;  // every trial seems disturbed, unless the kernel counts nothing
    region where("where", space({integer("x", 0, 2)}), options);
    int entries = 0;
    for (; !where.converged() && entries < 100; ++entries) {
        EXPECT_TRUE(entries != 1 || where.repeated() == 0U);
        const region::entry now = where.enter();
        quern::parallel_for(0, 64, quern::grain::fixed(1),
                            [](int) { spin_for(std::chrono::microseconds(100)); });
    }
    EXPECT_LE(where.repeated(), 4U);
    EXPECT_EQ(entries, 3 + static_cast<int>(where.repeated()));
}

// Holds: tuned: A grain of a loop is found within 8 trials, whatever the start. Each decision says
//     the cost of the last trial and what the next one is expected to cost.
TEST_P(region_test, tuned_finds_a_grain) {
    static constexpr long k_elements = quern_test::scaled(200'000L, 20'000L);
    for (const long start : {1L, k_elements}) {
        const std::string name =
            "loop.grain" + std::to_string(GetParam()) + "." + std::to_string(start);
        quern::tuned<long> grain(name, {1, k_elements}, start);
        std::size_t entries = 0;
        for (; !grain.converged() && entries < 10'000; ++entries) {  // most are no trials
            auto now = grain.enter();
            const long size = now.value();
            EXPECT_GE(size, 1);
            EXPECT_LE(size, k_elements);
            quern::async(rt, [&] {
                quern::task_group group;
                for (long first = 0; first < k_elements; first += size) {
                    group.run([first, size] {
                        volatile double sum = 0;
                        for (long i = first; i < std::min(first + size, k_elements); ++i) {
                            sum = sum + static_cast<double>(i);
                        }
                    });
                }
                group.wait();
            }).get();
        }
        EXPECT_TRUE(grain.converged());
        EXPECT_LE(grain.trials(), 8U);
        const auto all = decisions_about(name);
        ASSERT_FALSE(all.empty());
        for (const decision& each : all) {
            // Without counters the search is another one, which expects nothing.
            EXPECT_EQ(each.predicted.has_value(), quern::counts_sites()) << text_of(each);
            EXPECT_EQ(each.inputs.find("cost "), 0U) << each.inputs;
        }
        EXPECT_TRUE(all.back().observed);
    }
}

// Holds: tuned: A search ends also if no task runs in its entries, or none long enough to be timed.
TEST_P(region_test, tuned_ends_without_tasks) {
    quern::tuned<long> grain("nothing.grain", {1, 1'000'000});
    for (int entries = 0; !grain.converged() && entries < 10'000; ++entries) {
        static_cast<void>(grain.enter());
    }
    EXPECT_TRUE(grain.converged());
    EXPECT_LE(grain.trials(), 8U);
}

// Holds: tuned: ranges that are empty or begin below 1, and a start outside, are refused.
TEST(tuned_test, refuses_bad_ranges) {
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {100, 10});
              }),
              "quern: parameter 'grain': the range from 100 to 10 is empty; accepted: a least "
              "value that is not above the most, as from 10 to 100");
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {0, 10});
              }),
              "quern: parameter 'grain': cannot be divided by ratio; accepted: numbers above 0");
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {1, 10}, 11);
              }),
              "quern: parameter 'grain': start at 11; accepted: a whole number from 1 to 10; the "
              "nearest is 10");
    EXPECT_NE(error_of([] { quern::tuned<int>("", {1, 10}); }), "no error");
}

}  // namespace
