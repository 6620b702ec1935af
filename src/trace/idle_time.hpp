// SPDX-License-Identifier: BSL-1.0
// When a worker had nothing to do, as far as a recording shows it. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstdint>
#include <vector>

namespace quern::trace::detail {

/// Up to when there was room to record what a lane did; the whole duration when nothing was lost.
std::uint64_t recorded_until(const lane& one, std::uint64_t duration_ns);

/// Its sleep, and gaps between its tasks that are too long to be the runtime's work: a search, or a
/// sleep of which the beginning or the end was not recorded. In order of time.
std::vector<interval> idle_intervals(const lane& one, std::uint64_t duration_ns);

}  // namespace quern::trace::detail
