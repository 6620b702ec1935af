// SPDX-License-Identifier: BSL-1.0
// Regions that minimise something else than wall time: what a metric is given, what it may return,
// where it is refused. The metrics compute their costs from the point, so nothing is timed.
#include <quern/adaptation/tuned.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/async.hpp>

#include "unit/adaptation/error_of.hpp"
#include "unit/adaptation/regions.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::decisions_about;
using quern_test::error_of;
using quern_test::with_setting;

/// A region over x whose cost is computed from x.
class computed_region {
public:
    computed_region(const std::string& name, int most, std::function<double(double)> cost_of_x)
        : m_cost(std::move(cost_of_x)),
          m_where(
              name, space({integer("x", 0, most)}),
              {.how = strategy::exhaustive,
               .minimise = metric{"computed", [this](const entry_times&) { return m_cost(m_x); }},
               .most_lost = 0}) {}

    double enter() {
        const region::entry now = m_where.enter();
        m_x = now.where()["x"];
        return m_x;
    }
    int enter_until_converged() {
        int entries = 0;
        while (!m_where.converged() && entries < 100) {
            enter();
            ++entries;
        }
        return entries;
    }
    region& where() { return m_where; }

private:
    std::function<double(double)> m_cost;
    double m_x = 0;
    region m_where;
};

class metric_test : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        if (!quern::counts_sites()) {
            GTEST_SKIP() << "without counters there are no metrics";
        }
    }
    std::string name(const char* of) const { return of + std::to_string(GetParam()); }
    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(on, metric_test, testing::Values(1U, 2U, 8U));

// Holds: region: The search makes a metric least, and the decisions have its values.
TEST_P(metric_test, is_what_the_search_makes_least) {
    computed_region solve(name("distance"), 7, [](double x) { return 2 + std::abs(x - 5); });
    EXPECT_EQ(solve.enter_until_converged(), 8);
    EXPECT_EQ(solve.where().best()["x"], 5);
    const auto all = decisions_about(name("distance"));
    ASSERT_EQ(all.size(), 9U);  // the trials, and the choice
    EXPECT_EQ(all[1].inputs.find("computed 7"), 0U) << all[1].inputs;
    EXPECT_TRUE(all.front().is_trial);
    EXPECT_FALSE(all.back().is_trial);
    ASSERT_TRUE(all.back().observed);
    EXPECT_DOUBLE_EQ(*all.back().observed, 2.0 / 7);
}

// Holds: region: A metric is given the wall time, the work and the times of the workers.
TEST_P(metric_test, is_given_what_an_entry_took) {
    std::vector<entry_times> given;
    region_options options{.how = strategy::exhaustive};
    options.minimise = {"seen", [&](const entry_times& took) {
                            given.push_back(took);
                            return 1.0;
                        }};
    region solve(name("given"), space({integer("x", 0, 0)}), options);
    quern::async(rt, [&] {
        region::entry now = solve.enter();
        now.work(42);
        quern::parallel_for(0, 64, quern::grain::fixed(1),
                            [](int) { quern_test::spin_for(std::chrono::microseconds(100)); });
    }).get();
    ASSERT_EQ(given.size(), 1U);
    EXPECT_EQ(given.front().work, 42);
    EXPECT_GE(given.front().seconds, 0.0064 / GetParam());
    EXPECT_GT(given.front().workers.running_ns, 0);
    EXPECT_GE(given.front().workers.total_ns(), given.front().workers.running_ns);
}

// Holds: region: A metric that throws, or gives NaN or -infinity, costs its trial alone; this is
//     said once.
TEST_P(metric_test, that_fails_costs_its_trial) {
    for (const std::string how : {"throws", "nan", "infinity"}) {
        int calls = 0;
        computed_region solve("failing", 3, [&](double x) {
            if (++calls <= 2 && how == "throws") {
                throw std::runtime_error("no meter");
            }
            return calls > 2      ? 1 + x
                   : how == "nan" ? std::nan("")
                                  : -std::numeric_limits<double>::infinity();
        });
        testing::internal::CaptureStderr();
        EXPECT_EQ(solve.enter_until_converged(), 6) << how;
        const std::string numbers =
            "; accepted: numbers, and +infinity for a point that does not work";
        EXPECT_EQ(testing::internal::GetCapturedStderr(),
                  "quern: metric 'computed' of region 'failing': a trial is left out: it " +
                      (how == "throws" ? std::string("threw an exception: no meter")
                       : how == "nan"  ? "gave nan" + numbers
                                       : "gave -inf" + numbers) +
                      "\n");
        EXPECT_EQ(solve.where().trials(), 4U);
        EXPECT_EQ(solve.where().best()["x"], 0);
    }
}

// Holds: region: A metric that is +infinity says that the point does not work.
TEST_P(metric_test, may_say_that_a_point_does_not_work) {
    computed_region solve(
        "works", 3, [](double x) { return x < 2 ? std::numeric_limits<double>::infinity() : x; });
    EXPECT_EQ(solve.enter_until_converged(), 4);
    EXPECT_EQ(solve.where().best()["x"], 2);
    EXPECT_EQ(decisions_about("works").back().observed, std::nullopt);
}

// Holds: region: To a cost of 0 or below nothing is a ratio: no decision has one, and nothing
//     drifts.
TEST_P(metric_test, of_nothing_has_no_ratios) {
    for (const double least : {0.0, -3.0}) {
        const std::string called = name(least < 0 ? "negative" : "zero");
        computed_region solve(called, 3, [&](double x) { return least + x; });
        EXPECT_EQ(solve.enter_until_converged(), 4);
        for (const decision& each : decisions_about(called)) {
            EXPECT_EQ(each.observed, std::nullopt);
            EXPECT_EQ(each.predicted, std::nullopt);
        }
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(solve.enter(), 0);
        }
        EXPECT_TRUE(solve.where().converged());
    }
}

// Holds: region: With adapt=off a metric is not called.
TEST_P(metric_test, is_not_called_when_off) {
    const with_setting off("adapt", "off", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    int calls = 0;
    computed_region solve("off", 3, [&](double) { return ++calls; });
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(solve.enter(), solve.where().best()["x"]);
    }
    EXPECT_EQ(calls, 0);
}

// Holds: region: When later entries change which point is best, that is a decision.
TEST_P(metric_test, of_later_entries_changes_the_best) {
    bool is_dearer = false;
    computed_region solve(name("later"), 1, [&](double x) {
        return x == 1 ? 1.1 : is_dearer ? 1.2 : 1.0;
    });
    EXPECT_EQ(solve.enter_until_converged(), 2);
    EXPECT_EQ(solve.where().best()["x"], 0);
    const auto before = decisions_about(name("later")).size();
    is_dearer = true;
    for (int i = 0; i < 5 && solve.enter() == 0; ++i) {
    }
    const auto all = decisions_about(name("later"));
    ASSERT_EQ(all.size(), before + 1);
    EXPECT_EQ(all.back().before, 0);
    EXPECT_EQ(all.back().after, 1);
    EXPECT_FALSE(all.back().is_trial);
    EXPECT_EQ(all.back().why, "the best by now: later entries have changed what is known");
    EXPECT_TRUE(solve.where().converged());
}

// Holds: region: A cost that drifts is a decision, and so is what the next search chooses.
TEST_P(metric_test, that_drifts_starts_the_search_again) {
    double best_x = 1;
    computed_region solve(name("drifts"), 3, [&](double x) { return 1 + std::abs(x - best_x); });
    EXPECT_EQ(solve.enter_until_converged(), 4);
    best_x = 3;
    for (int i = 0; i < 20 && solve.where().converged(); ++i) {
        solve.enter();
    }
    EXPECT_FALSE(solve.where().converged());
    const decision drift = decisions_about(name("drifts")).back();
    EXPECT_NE(drift.why.find("the search starts again"), std::string::npos) << drift.why;
    EXPECT_FALSE(drift.is_trial);
    solve.enter_until_converged();
    const decision chosen = decisions_about(name("drifts")).back();
    EXPECT_EQ(chosen.after, 3);
    EXPECT_FALSE(chosen.is_trial);
}

// Holds: history: Results of a metric have a key of their own; costs of 0 and below are not kept.
TEST_P(metric_test, is_a_part_of_the_key_of_history) {
    const std::string path = testing::TempDir() + "metric_history_" + std::to_string(::getpid());
    ::unlink(path.c_str());
    const with_setting file("tune-history", path, "");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    const auto search = [](double least) {
        computed_region solve("solve", 3, [&](double x) { return least + std::abs(x - 2); });
        return solve.enter_until_converged();
    };
    testing::internal::CaptureStderr();
    EXPECT_EQ(search(0), 4);
    EXPECT_EQ(search(-1), 4);
    EXPECT_EQ(search(1), 4);
    EXPECT_EQ(search(1), 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::ifstream text(path);
    const std::string all{std::istreambuf_iterator<char>(text), {}};
    EXPECT_EQ(all.find("quern tuning history 1\nsolve by computed\tx<2^2\t"), 0U) << all;
    ::unlink(path.c_str());
}

// Holds: tuned: A metric is passed on to the region.
TEST_P(metric_test, is_taken_by_tuned_numbers) {
    int x = 0;
    quern::tuned<int> size(
        "size", {1, 5}, 1,
        {.how = strategy::exhaustive,
         .minimise = metric{"distance", [&](const entry_times&) { return 6.0 - x; }}});
    for (int entries = 0; !size.converged() && entries < 50; ++entries) {
        const auto now = size.enter();
        x = now.value();
    }
    EXPECT_EQ(size.best(), 5);
}

// Holds: region: A metric that is incomplete, that the strategy cannot use, or whose times are not
//     measured, is refused with the reason.
TEST(refused_metric_test, says_the_reason) {
    const auto with = [](metric by, strategy how) {
        return [by = std::move(by), how] {
            region("solve", space({integer("x", 1, 3)}), {.how = how, .minimise = by});
        };
    };
    const auto cost = [](const entry_times&) { return 1.0; };
    EXPECT_EQ(error_of(with({"", cost}, strategy::exhaustive)),
              "quern: region 'solve': a metric needs a name and a function");
    EXPECT_EQ(error_of(with({"idle-rate", {}}, strategy::exhaustive)),
              "quern: region 'solve': a metric needs a name and a function");
    EXPECT_EQ(error_of(with({"idle-rate", cost}, strategy::model)),
              "quern: region 'solve' cannot minimise 'idle-rate': the strategy model computes with "
              "the wall time; accepted: any other strategy");
    EXPECT_NE(error_of([&] {
                  quern::tuned<int>("solve", {1, 9}, {}, {.minimise = metric{"idle-rate", cost}});
              }).find("the strategy model"),
              std::string::npos);
    std::string reason;
    try {
        with({"idle-rate", cost}, strategy::exhaustive)();
    } catch (const std::runtime_error& error) {
        reason = error.what();
    }
    EXPECT_EQ(reason, quern::counts_sites()
                          ? ""
                          : "quern: region 'solve' cannot minimise 'idle-rate': the times of the "
                            "workers are not measured: the library was built without counters");
}

}  // namespace
