// SPDX-License-Identifier: BSL-1.0
// What the kernel tells of processors that a program did not get: its threads' waits in run queues,
// the time that a hypervisor stole, CPU quotas that stopped it. For what shows these numbers and
// what judges by them; not for users. All are sums that only grow.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <string_view>
#include <vector>

namespace quern::topology::detail {

/// Of one thread, since it began.
struct thread_schedule {
    double run_ns = 0.0;   ///< it had a processor
    double wait_ns = 0.0;  ///< it was ready and had none; stops by a CPU quota are among these
    double slices = 0.0;   ///< how often it was given one
};

/// From /proc/self/task/<thread>/schedstat; `thread` as the kernel numbers it.
outcome<thread_schedule> read_thread_schedule(const system_root& root, int thread);

/// Places in the times of a machine's processors.
enum processor_state : unsigned { k_idle = 3, k_iowait = 4, k_steal = 7 };

/// The times of all processors together, in ticks, from the text of /proc/stat: user nice system
/// idle iowait irq softirq steal; old kernels lack the last ones.
outcome<std::vector<double>> parse_processor_times(std::string_view text);
outcome<double> steal_in(const std::vector<double>& times);

/// Of all control groups that this process is in, added up.
struct throttling {
    double ns = 0.0;  ///< of all processors together
    double periods = 0.0;
};

/// Unavailable where any group's file is there and cannot be read: a part of the sum would pass for
/// the whole.
outcome<throttling> read_throttling(const system_root& root);

}  // namespace quern::topology::detail
