// SPDX-License-Identifier: BSL-1.0
// Statistics of a few numbers. Requires: at least one number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace quern::counters::detail {

using numbers = std::span<const double>;

inline double sum_of(numbers of) { return std::accumulate(of.begin(), of.end(), 0.0); }
inline double product_of(numbers of) {
    return std::accumulate(of.begin(), of.end(), 1.0, std::multiplies<>());
}
inline double mean_of(numbers of) { return sum_of(of) / static_cast<double>(of.size()); }
inline double min_of(numbers of) { return *std::min_element(of.begin(), of.end()); }
inline double max_of(numbers of) { return *std::max_element(of.begin(), of.end()); }

/// Population variance.
inline double variance_of(numbers of) {
    const double middle = mean_of(of);
    double squares = 0;
    for (const double each : of) {
        squares += (each - middle) * (each - middle);
    }
    return squares / static_cast<double>(of.size());
}

inline double stddev_of(numbers of) { return std::sqrt(variance_of(of)); }

inline double median_of(numbers of) {
    std::vector<double> sorted(of.begin(), of.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace quern::counters::detail
