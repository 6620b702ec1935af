// SPDX-License-Identifier: BSL-1.0
// Processor time that a program did not get, as reported by the kernel: waits of its threads in run
// queues, time stolen by a hypervisor, throttling by CPU quotas. For code that displays or
// evaluates these numbers; not for users. All are cumulative.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <string_view>
#include <vector>

namespace quern::topology::detail {

/// Of one thread, since its start.
struct thread_schedule {
    double run_ns = 0.0;   ///< running
    double wait_ns = 0.0;  ///< ready without a processor; includes throttling by a CPU quota
    double slices = 0.0;   ///< number of time slices
};

/// From /proc/self/task/<thread>/schedstat; `thread` is the kernel's thread id.
outcome<thread_schedule> read_thread_schedule(const system_root& root, int thread);

/// Indices of the times in /proc/stat.
enum processor_state : unsigned { k_idle = 3, k_iowait = 4, k_steal = 7 };

/// The times of all processors together, in ticks, from the text of /proc/stat: user nice system
/// idle iowait irq softirq steal; old kernels lack the last ones.
outcome<std::vector<double>> parse_processor_times(std::string_view text);
outcome<double> steal_in(const std::vector<double>& times);

/// Sum over all control groups of this process.
struct throttling {
    double ns = 0.0;  ///< sum over all processors
    double periods = 0.0;
};

/// Unavailable if any existing file of a group cannot be read, since a partial sum would pass for
/// the whole.
outcome<throttling> read_throttling(const system_root& root);

}  // namespace quern::topology::detail
