// SPDX-License-Identifier: BSL-1.0
// Events that the hardware and the kernel count for single threads, by perf_event_open: for each
// worker's thread, opened when it is first read. Where the hardware has fewer registers than are
// wanted, the kernel takes turns, and what was counted part of the time is scaled to all of it.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace quern::counters {

/// An event as the kernel names it.
struct event_kind {
    counter_info info;
    std::uint32_t type = 0;    ///< PERF_TYPE_…
    std::uint64_t config = 0;  ///< PERF_COUNT_…
    bool kernel_too = false;   ///< what happens in the kernel as well, which needs more rights
    double nothing_ns = 0;     ///< counted for so long and still 0: it is stuck. 0: never
};

/// The system calls; in tests something else.
class event_kernel {
public:
    /// What a descriptor gives: times in nanoseconds.
    struct count {
        std::uint64_t value = 0;
        std::uint64_t enabled = 0;  ///< time that the thread ran
        std::uint64_t counted = 0;  ///< part of it in which the event was counted
    };

    event_kernel() = default;
    event_kernel(const event_kernel&) = delete;
    event_kernel& operator=(const event_kernel&) = delete;
    virtual ~event_kernel() = default;

    /// A descriptor, or a negative errno value. `leader`: the descriptor of an event of the same
    /// thread beside which it is to be counted, or -1. Thread safe, as all three.
    virtual int open(const event_kind& event, pid_t thread, int leader) = 0;
    /// 0, or an errno value.
    virtual int read(int descriptor, count& into) = 0;
    virtual void close(int descriptor) noexcept = 0;

    /// The one of this machine.
    static std::shared_ptr<event_kernel> of_machine();
};

/// Hardware events of user code: /hw/{instructions,cycles}, /hw/{cache-references,cache-misses},
/// /hw/{branches,branch-misses}, /hw/stalled-cycles-{frontend,backend}, and of the kernel's
/// schedule, /os/schedule/{task-clock,migrations}. One source for each pair, which is counted
/// together where the hardware can: ratios within a pair are of the same moments.
///
/// Errors: what the machine does not have (most virtual machines) is absent; what the process may
/// not count is denied, with the value of /proc/sys/kernel/perf_event_paranoid.
/// A null kernel: all are absent. Cost: one descriptor for each event and worker that is read, and
/// about a microsecond for each reading of it.
std::vector<std::unique_ptr<source>> event_sources(const topology::system_root& root,
                                                   const std::shared_ptr<event_kernel>& kernel);

}  // namespace quern::counters
