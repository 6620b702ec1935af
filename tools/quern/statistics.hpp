// SPDX-License-Identifier: BSL-1.0
// The statistics of `quern grain`: medians, and how far two rows of numbers move together. Plain
// functions on plain numbers; what is not known is NaN and left out, in pairs where there are
// pairs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace quern::tool {

/// Of the numbers that are known.
struct summary {
    double median;  ///< NaN when none is
    double least;
    double most;
    std::size_t count = 0;

    /// (most - least) / median. NaN when the median is 0 or unknown.
    double spread() const { return (most - least) / median; }
};

summary summarize(std::span<const double> values);

/// Pearson's product-moment correlation, from -1 to 1. Nothing for fewer than three known pairs, or
/// where one side does not vary. Two passes, so that large offsets do no harm.
///
///     pearson(std::vector{1.0, 2.0, 3.0}, std::vector{2.0, 4.0, 6.0});  // 1
///
/// Requires: x and y of the same length.
std::optional<double> pearson(std::span<const double> x, std::span<const double> y);

/// Spearman's rank correlation: Pearson's of the ranks, so that only the order counts. Equal values
/// share the mean of their ranks. Nothing where pearson() of the ranks is nothing.
std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

/// 1 for the smallest. Equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);

}  // namespace quern::tool
