// SPDX-License-Identifier: BSL-1.0
// What a pool and its workers do at this moment, for those who look in from outside. A glance at
// what others change meanwhile: each number was true a moment ago, and no two of the same moment.
#pragma once

#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::detail {

struct worker_view {
    unsigned rank = 0;
    pid_t thread = 0;  ///< as the kernel numbers it
    worker_phase phase = worker_phase::idle;
    worker_totals totals;
    double blocked_ns = 0;   ///< of the time in tasks; 0 where the kernel does not say
    std::size_t queued = 0;  ///< ready items in the queues of this worker alone
    /// Of the task that runs, as far as it is known; empty and null while none does.
    std::string task{};
    const void* site = nullptr;  ///< where it was made
};

struct pool_view {
    std::string name;
    std::string policy;
    unsigned active_workers = 0;
    std::size_t queued = 0;       ///< ready items that belong to no worker
    std::uint64_t suspended = 0;  ///< stacks of tasks that wait
    std::vector<worker_view> workers;
};

/// Thread safe, while the pool lives. About 10 microseconds a worker. Throws std::bad_alloc.
pool_view view_of(const pool_ref& which);

/// Why a runtime with these pools has run no task, in a sentence or two. For reports. The pools are
/// not looked at. Thread safe. Throws std::bad_alloc.
std::string why_no_task(const std::vector<const pool*>& own);

}  // namespace quern::detail
