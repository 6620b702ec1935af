// SPDX-License-Identifier: BSL-1.0
// What `quern grain` is going to run: the place of the grain in a command, rows of grains, lists.
#include "grain_plan.hpp"
#include "command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace quern::tool;
using words = std::vector<std::string>;
using grains = std::vector<grain_size>;

TEST(CommandTemplate, FillsEveryPlaceOfTheName) {
    const command_template command(words{"heat", "--partition={size}", "{size}", "{size}-{size}"});
    EXPECT_EQ(command.name(), "size");
    EXPECT_EQ(command.with(500), (words{"heat", "--partition=500", "500", "500-500"}));
    EXPECT_EQ(command.text(), "heat --partition={size} {size} {size}-{size}");
}

TEST(CommandTemplate, LeavesOtherBracesAlone) {
    const command_template command(words{"p", "{}", "{1}", "{a b}", "{", "}", R"({"n":{n}})"});
    EXPECT_EQ(command.name(), "n");
    EXPECT_EQ(command.with(7), (words{"p", "{}", "{1}", "{a b}", "{", "}", R"({"n":7})"}));
}

TEST(CommandTemplate, RefusesWhatHasNotOneName) {
    EXPECT_THROW(command_template(words{}), usage_error);
    EXPECT_THROW(command_template(words{"heat", "--partition", "5"}), usage_error);
    EXPECT_THROW(command_template(words{"{heat}", "5"}), usage_error);
    EXPECT_THROW(command_template(words{"heat", "{a}", "{b}"}), usage_error);
    EXPECT_THROW(command_template(words{"heat", "{a}{b}"}), usage_error);
}

TEST(SeriesOfGrains, HasBothEndsAndKnownNumbersBetween) {
    EXPECT_EQ(series_of_grains(1, 100, 1), (grains{1, 10, 100}));
    EXPECT_EQ(series_of_grains(10, 1000, 3), (grains{10, 20, 50, 100, 200, 500, 1000}));
    EXPECT_EQ(series_of_grains(700, 2500, 3), (grains{700, 1000, 2000, 2500}));
    EXPECT_EQ(series_of_grains(1000, 50000, 2), (grains{1000, 3000, 10000, 30000, 50000}));
    EXPECT_EQ(series_of_grains(5, 5, 3), (grains{5}));
    EXPECT_THROW(series_of_grains(6, 5, 3), usage_error);
}

TEST(SeriesOfGrains, HasAsManyInADecadeAsAskedFor) {
    for (unsigned per_decade = 1; per_decade <= 20; ++per_decade) {
        const grains all = series_of_grains(1000, 100000, per_decade);
        EXPECT_EQ(all.size(), 2 * per_decade + 1) << per_decade;
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    }
}

TEST(SeriesOfGrains, EndsAtTheLargestGrain) {
    EXPECT_EQ(series_of_grains(1, 1'000'000'000'000'000, 1).size(), 16u);
}

TEST(ParseGrain, TakesWholeNumbers) {
    EXPECT_EQ(parse_grain("--from", "1"), 1u);
    EXPECT_EQ(parse_grain("--from", "2.5e6"), 2'500'000u);
    EXPECT_EQ(parse_grain("--from", "1e15"), 1'000'000'000'000'000u);
    for (const char* const bad : {"", "0", "-3", "1.5", "1e16", "nan", "inf", "5k", " 5", "0x10"}) {
        EXPECT_THROW(parse_grain("--from", bad), usage_error) << bad;
    }
}

TEST(ParseGrains, SortsAndDropsDoubles) {
    EXPECT_EQ(parse_grains("--values", "100,1e1,10"), (grains{10, 100}));
    EXPECT_THROW(parse_grains("--values", "1,,2"), usage_error);
    EXPECT_THROW(parse_grains("--values", "1,2,"), usage_error);
}

TEST(ParseWorkers, KnowsAll) {
    EXPECT_EQ(parse_workers("--workers", "all,1,2", 8), (std::vector<unsigned>{1, 2, 8}));
    EXPECT_EQ(parse_workers("--workers", "1,all", 1), (std::vector<unsigned>{1}));
    for (const char* const bad : {"", "0", "-1", "5000", "two", "1,", "1;2", "all2", "2x"}) {
        EXPECT_THROW(parse_workers("--workers", bad, 2), usage_error) << bad;
    }
}

}  // namespace
