// SPDX-License-Identifier: BSL-1.0
// Whether a process can do anything by itself, asked by a layer that connects several processes: a
// hang of such processes is known only to all of them together. Argument: src/scheduler/README.md,
// section "Hangs".
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::detail {

struct still_process {
    /// No pool has anything to run or a timer, no operation is outstanding but those of pollers of
    /// the name that was asked for, and every thread is a sleeping worker, one of Quern's own, or
    /// waits in Quern for an event that is not set. The worker of a pool for communication may be
    /// such a thread; then what is queued in that pool does not count.
    bool is_still = false;
    std::uint64_t version = 0;  ///< rises with each item begun and each progress of a poller
};

/// A worker may be about to begin an item that a poller has just made ready: the process has been
/// still if two looks say so with the same version, and pollers were asked in between.
/// Thread safe. Cost: reads the list of threads from the kernel.
still_process look_whether_still(std::string_view poller);

/// A waiting task or thread, by the object that it waits for.
struct named_waiter {
    const void* thing;
    std::string name;  ///< "task 'left edge'", "thread 4711"
};

struct process_waits {
    std::string report;  ///< as quern::task_report(), without pollers
    std::vector<named_waiter> waiters{};
};

/// Thread safe. Cost: as quern::task_report().
process_waits collect_process_waits();

}  // namespace quern::detail
