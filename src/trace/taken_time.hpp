// SPDX-License-Identifier: BSL-1.0
// How much of the workers' time the machine gave to others while somebody recorded: looks at the
// system's sums when the recording begins and again when it ends. What the system does not tell
// stays unknown. Private to the layer.
#pragma once

#include <quern/topology/lost_time.hpp>
#include <quern/trace/recording.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace quern::trace::detail {

/// Sums of one moment.
struct lost_time_look {
    std::map<std::int32_t, topology::detail::thread_schedule> threads;  ///< those that tell
    std::optional<std::vector<double>> processors;                      ///< in ticks, by state
    std::optional<double> throttled_ns;
};

/// Takes 5 µs a thread and 100 µs for the rest. A thread without a number yet is left out.
lost_time_look look_at_lost_time(std::span<const std::int32_t> threads,
                                 const topology::system_root& root = {});

/// What lies between two looks. A thread that the first one did not see began after it.
taken_time between(const lost_time_look& before, const lost_time_look& after);

}  // namespace quern::trace::detail
