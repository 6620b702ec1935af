// SPDX-License-Identifier: BSL-1.0
// Correlations whose values are known: by construction, from books, and from the published data of
// Anscombe 1973.
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace quern::tool;
using numbers = std::vector<double>;

constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();

TEST(Summary, OfOddAndEvenCounts) {
    EXPECT_EQ(summarize(numbers{3, 1, 2}).median, 2);
    EXPECT_EQ(summarize(numbers{4, 1, 2, 3}).median, 2.5);
    const summary one = summarize(numbers{8, 2, 4});
    EXPECT_EQ(one.least, 2);
    EXPECT_EQ(one.most, 8);
    EXPECT_EQ(one.spread(), 1.5);
}

TEST(Summary, LeavesOutWhatIsNotKnown) {
    const summary some = summarize(numbers{k_unknown, 5, k_unknown});
    EXPECT_EQ(some.median, 5);
    EXPECT_EQ(some.count, 1u);
    EXPECT_TRUE(std::isnan(summarize(numbers{k_unknown}).median));
    EXPECT_EQ(summarize(numbers{}).count, 0u);
}

TEST(Pearson, IsOneOnALine) {
    EXPECT_DOUBLE_EQ(*pearson(numbers{1, 2, 3, 4}, numbers{5, 7, 9, 11}), 1);
    EXPECT_DOUBLE_EQ(*pearson(numbers{1, 2, 3, 4}, numbers{3, 2, 1, 0}), -1);
}

TEST(Pearson, IsZeroWithoutATrend) {
    EXPECT_DOUBLE_EQ(*pearson(numbers{-1, 0, 1}, numbers{1, 0, 1}), 0);
}

TEST(Pearson, OfAnscombesFirstSet) {
    const numbers x = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    const numbers y = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    EXPECT_NEAR(*pearson(x, y), 0.81642, 1e-5);
    EXPECT_NEAR(*spearman(x, y), 0.81818, 1e-5);
}

TEST(Pearson, SurvivesLargeOffsets) {
    EXPECT_NEAR(*pearson(numbers{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}, numbers{1, 3, 2, 4}), 0.8,
                1e-9);
}

TEST(Pearson, IsNothingWhereItIsNotDefined) {
    EXPECT_FALSE(pearson(numbers{}, numbers{}));
    EXPECT_FALSE(pearson(numbers{1, 2}, numbers{1, 2}));        // two points are on a line
    EXPECT_FALSE(pearson(numbers{1, 2, 3}, numbers{7, 7, 7}));  // does not vary
    EXPECT_FALSE(pearson(numbers{1, k_unknown, 3}, numbers{1, 2, 3}));
    EXPECT_FALSE(pearson(numbers{0.1, 0.1, 0.1}, numbers{1, 2, 3}));
}

TEST(Pearson, LeavesOutPairsThatAreNotKnown) {
    EXPECT_DOUBLE_EQ(*pearson(numbers{1, 2, k_unknown, 3, 9}, numbers{2, 4, 5, 6, k_unknown}), 1);
}

TEST(Ranks, ShareTheMeanWhereValuesAreEqual) {
    EXPECT_EQ(ranks(numbers{30, 10, 20}), (numbers{3, 1, 2}));
    EXPECT_EQ(ranks(numbers{5, 1, 5, 5, 9}), (numbers{3, 1, 3, 3, 5}));
    EXPECT_TRUE(ranks(numbers{}).empty());
}

TEST(Spearman, SeesOnlyTheOrder) {
    EXPECT_DOUBLE_EQ(*spearman(numbers{1, 2, 3, 4}, numbers{1, 10, 100, 1e9}), 1);
    EXPECT_DOUBLE_EQ(*spearman(numbers{1, 2, 3, 4}, numbers{4, 3, 2, -1e9}), -1);
}

// With d the differences of ranks, 1 - 6 sum(d^2) / (n (n^2 - 1)): here 1 - 6 * 6 / (5 * 24).
TEST(Spearman, FollowsTheFormulaWithoutTies) {
    EXPECT_NEAR(*spearman(numbers{1, 2, 3, 4, 5}, numbers{2, 1, 4, 5, 3}), 0.6, 1e-12);
}

}  // namespace
