// SPDX-License-Identifier: BSL-1.0
// The number of concurrent tasks, in equal steps of the run's duration. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::trace::detail {

/// Adds to each of the equal steps of [0, duration) its part of [begin, end), in ns. The steps are
/// `stride` apart in the array.
void spread(std::span<double> steps, std::size_t stride, std::uint64_t duration_ns,
            std::uint64_t begin_ns, std::uint64_t end_ns);

/// Shares of the run's duration; both 0 if a lane lacks slices, since they are unknown then.
struct concurrency_shares {
    double nothing = 0.0;      ///< no task ran
    double at_most_one = 0.0;  ///< at most one task ran
};

concurrency_shares shares_of(const recording& run);

/// Up to when there was room to record what a lane did; the whole duration when nothing was lost.
std::uint64_t recorded_until(const lane& one, std::uint64_t duration_ns);

/// Its sleep, and gaps between its tasks that are too long to be the runtime's work: a search, or a
/// sleep of which the beginning or the end was not recorded. In order of time.
std::vector<interval> idle_intervals(const lane& one, std::uint64_t duration_ns);

}  // namespace quern::trace::detail
