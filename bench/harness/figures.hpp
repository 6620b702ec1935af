// SPDX-License-Identifier: BSL-1.0
// Figures other than the seconds of a run, for problems with another value: the cost of a step,
// percentiles of many samples.
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

/// The seconds of a run of `steps` steps as nanoseconds per step.
inline measurement per_step(measurement run, long steps) {
    run.value *= 1e9 / static_cast<double>(steps);
    return run;
}

/// The least value that this share of all values does not exceed; share 1 is the largest.
inline double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(at + 0.5)];
}

/// The median, with the 99th percentile and the largest value as further figures.
inline measurement of_samples(const std::vector<double>& values) {
    measurement m{median(values), static_cast<int>(values.size()), {}};
    m.more["p99"] = percentile(values, 0.99);
    m.more["max"] = percentile(values, 1);
    return m;
}

}  // namespace bench
