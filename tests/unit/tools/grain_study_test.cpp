// SPDX-License-Identifier: BSL-1.0
// The equations of Grubel 2016, section 5.1.2, on numbers worked out by hand, and what follows from
// a study: correlations by range, choices.
#include "grain_study.hpp"
#include "grain_findings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using namespace quern::tool;

sample run(unsigned workers, grain_size grain, double uptime, double tasks, double duration,
           double overhead) {
    sample one{workers, grain, 0, {}};
    one.values[metric::uptime] = uptime;
    one.values[metric::tasks] = tasks;
    one.values[metric::duration] = duration;
    one.values[metric::overhead] = overhead;
    return one;
}

/// Two numbers of workers, four grains: tasks of 10, 20, 50 and 300 us on one worker.
study four_grains() {
    study made;
    made.grains = {1, 2, 5, 30};
    made.workers = {1, 2};
    for (const grain_size grain : made.grains) {
        const double x = static_cast<double>(grain);
        made.samples.push_back(run(1, grain, 1 + 1 / x, 6000 / x, 10e-6 * x, 1e-6));
        made.samples.push_back(run(2, grain, 0.5 + 1 / x, 6000 / x, 12e-6 * x, 2e-6));
    }
    derive(made);
    return made;
}

TEST(Metrics, StandInTheOrderOfTheEnumeration) {
    for (unsigned i = 0; i < k_metrics; ++i) {
        EXPECT_EQ(info_of(static_cast<metric>(i)).id, static_cast<metric>(i));
    }
}

TEST(Derived, FollowFromTheDefinitions) {
    const study made = four_grains();
    const measures& v = made.of(2, 2)[0]->values;  // 3000 tasks of 24 us, 20 us alone
    EXPECT_DOUBLE_EQ(v[metric::time], 1.0);
    EXPECT_NEAR(v[metric::management], 2e-6 * 3000 / 2, 1e-12);
    EXPECT_NEAR(v[metric::wait], 4e-6, 1e-15);
    EXPECT_NEAR(v[metric::wait_per_core], 4e-6 * 3000 / 2, 1e-12);
    EXPECT_NEAR(v[metric::management_and_wait], 3e-3 + 6e-3, 1e-12);
}

TEST(Derived, HaveNoWaitTimeOnOneWorker) {
    const study made = four_grains();
    EXPECT_TRUE(std::isnan(made.of(1, 2)[0]->values[metric::wait]));
    EXPECT_NEAR(made.of(1, 2)[0]->values[metric::management], 3e-3, 1e-12);
}

TEST(Derived, HaveNoWaitTimeWithoutRunsOnOneWorker) {
    study made = four_grains();
    std::erase_if(made.samples, [](const sample& one) { return one.workers == 1; });
    for (sample& one : made.samples) {
        one.values = run(2, one.grain, 1, 10, 1e-6, 1e-6).values;
    }
    derive(made);
    EXPECT_FALSE(made.has_one_worker());
    EXPECT_TRUE(std::isnan(made.noise()));
    EXPECT_TRUE(std::isnan(made.samples[0].values[metric::wait]));
    EXPECT_DOUBLE_EQ(made.least_disturbed_duration(1), 1e-6);  // of the two workers then
}

TEST(Derived, TakeTheTimeThatIsThere) {
    study made;
    made.grains = {1};
    made.workers = {1};
    made.samples = {run(1, 1, 3, 1, 1, 1), run(1, 1, 3, 1, 1, 1), run(1, 1, std::nan(""), 1, 1, 1)};
    made.samples[0].values[metric::time] = 2;  // the program has told
    for (sample& one : made.samples) {
        one.values[metric::wall] = 4;
    }
    derive(made);
    EXPECT_EQ(made.samples[0].values[metric::time], 2);
    EXPECT_EQ(made.samples[1].values[metric::time], 3);
    EXPECT_EQ(made.samples[2].values[metric::time], 4);
}

TEST(Bands, FollowTheDurationOnOneWorker) {
    EXPECT_EQ(band_of(1e-6), band::very_fine);
    EXPECT_EQ(band_of(30e-6), band::fine);
    EXPECT_EQ(band_of(99e-6), band::fine);
    EXPECT_EQ(band_of(100e-6), band::medium);
    EXPECT_EQ(band_of(500e-6), band::coarse);
    EXPECT_EQ(band_of(1e-3), band::very_coarse);
    EXPECT_EQ(band_of(10), band::very_coarse);
    EXPECT_STREQ(name_of(band::very_coarse), "very coarse");
}

TEST(Correlations, AreByRangeAndOverAll) {
    const std::vector<range_findings> ranges = correlate(four_grains(), 2);
    ASSERT_EQ(ranges.size(), 4u);
    EXPECT_EQ(ranges[0].range, band::very_fine);
    EXPECT_EQ(ranges[0].grains, 2u);
    EXPECT_TRUE(ranges[0].correlations.empty());  // two grains say nothing
    EXPECT_EQ(ranges[1].range, band::fine);
    EXPECT_EQ(ranges[2].range, band::medium);
    EXPECT_FALSE(ranges[3].range);
    EXPECT_EQ(ranges[3].grains, 4u);
    for (const correlation& one : ranges[3].correlations) {
        if (one.which == metric::management) {  // both are 1 / x here
            EXPECT_NEAR(*one.pearson, 1, 1e-9);
            EXPECT_NEAR(*one.spearman, 1, 1e-9);
        }
        EXPECT_NE(one.which, metric::idle);  // nobody has measured it
    }
}

TEST(Best, IsTheLeastMedianAndSaysWhatMetricsWouldHaveTaken) {
    study made;
    made.grains = {1, 2, 3};
    made.workers = {2};
    const double times[] = {2.0, 1.0, 1.1};
    const double idle[] = {0.5, 0.3, 0.1};
    for (const grain_size grain : made.grains) {
        for (unsigned repetition = 0; repetition < 3; ++repetition) {
            sample one{2, grain, repetition, {}};
            one.values[metric::uptime] = times[grain - 1] + 0.1 * repetition;
            one.values[metric::idle] = idle[grain - 1];
            made.samples.push_back(one);
        }
    }
    derive(made);
    EXPECT_NEAR(made.noise(), 0.2 / 1.2, 1e-12);  // of 0.2/2.1, 0.2/1.1 and 0.2/1.2
    const auto best = find_best(made, 2);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->grain, 2u);
    EXPECT_DOUBLE_EQ(best->time, 1.1);
    EXPECT_EQ(best->equally_good, (std::vector<grain_size>{3}));
    ASSERT_EQ(best->choices.size(), 1u);
    EXPECT_EQ(best->choices[0].which, metric::idle);
    EXPECT_EQ(best->choices[0].grain, 3u);
    EXPECT_NEAR(best->choices[0].slower, 1.2 / 1.1 - 1, 1e-12);
    EXPECT_FALSE(find_best(made, 1));
}

}  // namespace
