// SPDX-License-Identifier: BSL-1.0
// How many tasks ran at a time, in equal steps of the run's duration. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::trace::detail {

/// Adds the part of [begin, end) that lies in each of the equal steps of [0, duration), in ns;
/// steps are `stride` apart in the array.
void spread(std::span<double> steps, std::size_t stride, std::uint64_t duration_ns,
            std::uint64_t begin_ns, std::uint64_t end_ns);

/// Shares of the run's duration; both 0 while a lane lacks slices, for then nobody knows.
struct concurrency_shares {
    double nothing = 0.0;      ///< no task ran
    double at_most_one = 0.0;  ///< one task ran, or none
};

concurrency_shares shares_of(const recording& run);

}  // namespace quern::trace::detail
