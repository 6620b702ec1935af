// SPDX-License-Identifier: BSL-1.0
// Events that the hardware and the kernel count for single threads, by perf_event_open: for each
// worker's thread, opened when it is first read. Where the hardware has fewer registers than are
// wanted, the kernel takes turns, and what was counted part of the time is scaled to all of it.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>
#include <quern/topology/thread_events.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace quern::counters {

/// Hardware events of user code: /hw/{instructions,cycles}, /hw/{cache-references,cache-misses},
/// /hw/{branches,branch-misses}, /hw/stalled-cycles-{frontend,backend}, and of the kernel's
/// schedule, /os/schedule/{task-clock,migrations}. One source for each pair, which is counted
/// together where the hardware can: ratios within a pair are of the same moments.
///
/// Errors: what the machine does not have (most virtual machines) is absent; what the process may
/// not count is denied, with the value of /proc/sys/kernel/perf_event_paranoid.
/// A null kernel: all are absent. Cost: one descriptor for each event and worker that is read, and
/// about a microsecond for each reading of it.
std::vector<std::unique_ptr<source>> event_sources(
    const topology::system_root& root, const std::shared_ptr<topology::event_kernel>& kernel);

/// The source of "/hw/r1a2": an event of this processor by its number (topology/thread_events.hpp).
/// Null for any other name.
std::unique_ptr<source> raw_event_source(const topology::system_root& root,
                                         const std::shared_ptr<topology::event_kernel>& kernel,
                                         std::string_view counter);

}  // namespace quern::counters
