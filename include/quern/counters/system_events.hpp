// SPDX-License-Identifier: BSL-1.0
// Events that the hardware and the kernel count per thread, by perf_event_open: one set per worker
// thread, opened at its first reading. If the hardware has too few registers, the kernel
// multiplexes the events, and a count of part of the time is scaled to all of it.
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
/// scheduler, /os/schedule/{task-clock,migrations}. One source per pair. The events of a pair are
/// counted together if the hardware can, so ratios within a pair refer to the same time.
///
/// Errors: events that the machine does not have (most virtual machines) are absent; events that
/// the process may not count are denied, with the value of /proc/sys/kernel/perf_event_paranoid. A
/// null kernel: all are absent. Cost: one descriptor per event and worker that is read, and about 1
/// us per reading of it.
std::vector<std::unique_ptr<source>> event_sources(
    const topology::system_root& root, const std::shared_ptr<topology::event_kernel>& kernel);

/// The source of "/hw/r1a2": an event of this processor by number (topology/thread_events.hpp).
/// Null for any other name.
std::unique_ptr<source> raw_event_source(const topology::system_root& root,
                                         const std::shared_ptr<topology::event_kernel>& kernel,
                                         std::string_view counter);

}  // namespace quern::counters
