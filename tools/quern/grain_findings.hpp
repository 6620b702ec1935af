// SPDX-License-Identifier: BSL-1.0
// What a study says: how far each metric goes along with execution time in each range of
// granularity (Grubel 2016, table 2), and which grain each would have chosen (table 9).
#pragma once

#include "grain_study.hpp"

#include <optional>
#include <vector>

namespace quern::tool {

struct correlation {
    metric which;
    std::optional<double> pearson;  ///< over all samples, not their medians
    std::optional<double> spearman;
};

/// A range of granularity; without one, all grains.
struct range_findings {
    std::optional<band> range;
    std::size_t grains = 0;
    std::size_t samples = 0;
    std::vector<correlation> correlations;  ///< empty where there are fewer than three grains
};

/// For the metrics that are compared and known. Ranges without a grain are left out; all grains
/// last.
std::vector<range_findings> correlate(const study& of, unsigned workers);

/// What a metric takes for the best grain: the one where its median is least.
struct choice {
    metric which;
    grain_size grain = 0;
    double time = 0;    ///< the median execution time there
    double slower = 0;  ///< time / the best time - 1
};

struct best_grain {
    grain_size grain = 0;
    double time = 0;                       ///< its median
    std::vector<grain_size> equally_good;  ///< others whose fastest run is within its slowest
    std::vector<choice> choices;
};

/// Nothing when there is no sample with that number of workers.
std::optional<best_grain> find_best(const study& of, unsigned workers);

}  // namespace quern::tool
