// SPDX-License-Identifier: BSL-1.0
// How much of the workers' time the machine gave to others during a recording: compares the
// system's sums at its beginning and its end. Values that the system does not report stay unknown.
// Private to the layer.
#pragma once

#include <quern/topology/detail/lost_time.hpp>
#include <quern/trace/recording.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace quern::trace::detail {

/// Sums at one moment.
struct lost_time_look {
    std::map<std::int32_t, topology::detail::thread_schedule>
        threads;                                    ///< threads with readable times
    std::optional<std::vector<double>> processors;  ///< in ticks, by state
    std::optional<double> throttled_ns;
};

/// Of the threads that have an id and whose times can be read. 5 µs per thread.
std::map<std::int32_t, topology::detail::thread_schedule> schedules_of(
    std::span<const std::int32_t> threads, const topology::system_root& root = {});

/// Takes 5 µs per thread and 100 µs for the rest. A thread without an id yet is left out.
lost_time_look look_at_lost_time(std::span<const std::int32_t> threads,
                                 const topology::system_root& root = {});

/// The difference of two snapshots. A thread missing in the first began after it.
taken_time between(const lost_time_look& before, const lost_time_look& after);

}  // namespace quern::trace::detail
