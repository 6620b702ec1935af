// SPDX-License-Identifier: BSL-1.0
// The present state of a pool and its workers, for outside observers. The values are read while
// others change them: each was true a moment ago, but no two at the same moment.
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
    pid_t thread = 0;  ///< kernel thread id
    worker_phase phase = worker_phase::idle;
    worker_totals totals;
    double blocked_ns = 0;   ///< part of the time in tasks; 0 where the kernel does not report it
    double lost_ns = 0;      ///< ready without a processor; 0 as above
    double ran_ns = 0;       ///< its thread had a processor
    std::size_t queued = 0;  ///< ready items in this worker's own queues
    /// The running task, as far as it is known; empty and null without one.
    std::string task{};
    const void* site = nullptr;   ///< where it was created
    const void* entry = nullptr;  ///< the function that runs it, where neither is known
};

struct pool_view {
    std::string name;
    std::string policy;
    unsigned active_workers = 0;
    std::size_t queued = 0;       ///< ready items in shared queues
    std::uint64_t suspended = 0;  ///< stacks of waiting tasks
    std::vector<worker_view> workers;
};

/// Thread safe, while the pool lives. About 10 microseconds per worker. Throws std::bad_alloc.
pool_view view_of(const pool_ref& which);

/// Why a runtime with these pools has run no task, in a sentence or two, for reports. The pools are
/// not accessed. Thread safe. Throws std::bad_alloc.
std::string why_no_task(const std::vector<const pool*>& own);

}  // namespace quern::detail
