// SPDX-License-Identifier: BSL-1.0
// Statistics gathered in parts equal those of the whole, also where the mean is large relative to
// the differences.
#include "record/statistics.hpp"

#include <quern/base/detail/rng.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using quern::trace::detail::statistics;

struct plain {
    double mean, stddev, min, max;
};

plain compute(const std::vector<double>& values) {
    plain p{0, 0, values.front(), values.front()};
    for (const double v : values) {
        p.mean += v / static_cast<double>(values.size());
        p.min = std::min(p.min, v);
        p.max = std::max(p.max, v);
    }
    for (const double v : values) {
        p.stddev += (v - p.mean) * (v - p.mean) / static_cast<double>(values.size());
    }
    p.stddev = std::sqrt(p.stddev);
    return p;
}

TEST(statistics_test, of_nothing_are_zero) {
    const statistics none;
    EXPECT_EQ(none.count(), 0U);
    EXPECT_EQ(none.mean(), 0.0);
    EXPECT_EQ(none.stddev(), 0.0);
}

TEST(statistics_test, of_equal_values_have_no_deviation) {
    statistics s;
    for (int i = 0; i < 1000; ++i) {
        s.add(1e9 + 0.1);
    }
    EXPECT_EQ(s.stddev(), 0.0);
    EXPECT_DOUBLE_EQ(s.total(), 1000 * (1e9 + 0.1));
}

TEST(statistics_test, put_together_are_those_of_the_whole) {
    quern::detail::rng random(7);
    for (const double offset : {0.0, 1e3, 1e12}) {
        for (const unsigned parts : {1U, 2U, 8U}) {
            std::vector<double> values;
            std::vector<statistics> pieces(parts);
            for (unsigned i = 0; i < 10'000; ++i) {
                values.push_back(offset + random.below(1000) + 1);
                pieces[i * i % parts].add(values.back());
            }
            statistics whole;
            for (const statistics& each : pieces) {
                whole.merge(each);
            }
            const plain expected = compute(values);
            EXPECT_EQ(whole.count(), values.size());
            EXPECT_NEAR(whole.mean() / expected.mean, 1.0, 1e-9);
            EXPECT_NEAR(whole.stddev() / expected.stddev, 1.0, 1e-3) << offset << " " << parts;
            EXPECT_EQ(whole.min(), expected.min);
            EXPECT_EQ(whole.max(), expected.max);
        }
    }
}

TEST(statistics_test, sorts_into_powers_of_two) {
    statistics s;
    for (const double ns : {0.0, 1.0, 1.9, 2.0, 3.9, 4.0, 1024.0, 1e30}) {
        s.add(std::min(ns, 1e18));
    }
    EXPECT_EQ(s.histogram()[0], 3U);
    EXPECT_EQ(s.histogram()[1], 2U);
    EXPECT_EQ(s.histogram()[2], 1U);
    EXPECT_EQ(s.histogram()[10], 1U);
    EXPECT_EQ(s.histogram()[statistics::k_buckets - 1], 1U);
}

}  // namespace
