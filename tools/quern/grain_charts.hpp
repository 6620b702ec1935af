// SPDX-License-Identifier: BSL-1.0
// The charts of `quern grain`: execution time and its companions against the grain, as in the
// figures of Grubel 2016, chapter 5.
#pragma once

#include "grain_study.hpp"
#include "svg_chart.hpp"

#include <vector>

namespace quern::tool {

/// Execution time of all numbers of workers, with the grains that metrics would have chosen.
chart overview_chart(const study& of);

/// Time with its parts, rates, durations and queue accesses, for one number of workers.
std::vector<chart> charts_of(const study& of, unsigned workers);

}  // namespace quern::tool
