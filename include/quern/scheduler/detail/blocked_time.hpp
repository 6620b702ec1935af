// SPDX-License-Identifier: BSL-1.0
// What a worker's own clock cannot tell apart from work. Time lost: its thread was ready and had no
// processor, which the kernel counts. Time blocked: its thread slept in the middle of a task, in a
// std::mutex, a read, a page fault. No event marks such a sleep: it is what remains of a worker's
// time after subtracting the time its thread ran, waited for a processor, or slept without work.
// Counters, recordings and reports use both.
#pragma once

#include <quern/scheduler/worker_stats.hpp>
#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <sys/types.h>

namespace quern::detail {

class worker_status;

/// Blocked time of one worker since it began. The wait for a processor after a wake-up is
/// subtracted twice, and so is the wait before the worker began. The result is therefore too small
/// rather than too large, and may be negative. Differences of two results are for display; clamp
/// them to at least 0. Any thread, while the pool lives. Cost: three system calls, 10 us.
topology::outcome<double> read_blocked_ns(const worker_status& of,
                                          const topology::system_root& root = {});

/// What the kernel counts of a worker's thread since it began, in nanoseconds.
struct thread_look {
    double waited_ns = 0;  ///< ready without a processor; a CPU quota makes some of it
    double ran_ns = 0;
};

/// Any thread, while the pool lives. Cost: two system calls, 5 us.
topology::outcome<thread_look> look_at_thread(const worker_status& of,
                                              const topology::system_root& root = {});

/// What a worker lost in a time, in nanoseconds.
struct lost_part {
    double all_ns = 0;   ///< exact
    double idle_ns = 0;  ///< of that, while it had nothing to do: an estimate
};

/// `spent`: what the worker did; `thread`: what its thread did meanwhile. Time in which the worker
/// did not sleep for want of work and its thread did not run was lost while it was awake, in
/// proportion to what it did; the rest was lost after wake-ups.
lost_part lost_in(const worker_totals& spent, const thread_look& thread) noexcept;

/// A worker's time by what it did. `lost_ns` is no part of the others.
struct time_parts {
    double in_tasks_ns = 0;
    double managing_ns = 0;
    double idle_ns = 0;
    double lost_ns = 0;
};

/// Takes what was lost out of the parts in which it was lost: out of tasks and the runtime in
/// proportion to them, out of idle time what was lost there. No part becomes negative; what is left
/// of the loss then is no part of this time. `of.lost_ns` is 0 before.
time_parts without_losses(time_parts of, const lost_part& lost) noexcept;

/// Time that a thread of this process has run, exact even while it runs; 0 when the thread has
/// ended.
double thread_run_ns(pid_t thread) noexcept;

}  // namespace quern::detail
