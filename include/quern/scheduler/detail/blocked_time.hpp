// SPDX-License-Identifier: BSL-1.0
// How long workers slept in the kernel in the middle of a task: in a std::mutex, a read, a page
// fault. No event marks such a sleep. It is what remains of a worker's time after subtracting the
// time its thread ran, waited for a processor, or slept without work. Counters, recordings and
// reports use it.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <sys/types.h>

namespace quern::detail {

class worker;

/// Blocked time of one worker since it began. The wait for a processor after a wake-up is
/// subtracted twice, and so is the wait before the worker began. The result is therefore too small
/// rather than too large, and may be negative. Differences of two results are for display; clamp
/// them to at least 0. Any thread, while the pool lives. Cost: three system calls, 10 us.
topology::outcome<double> read_blocked_ns(const worker& of, const topology::system_root& root = {});

/// Time that a thread of this process has run, exact even while it runs; 0 when the thread has
/// ended.
double thread_run_ns(pid_t thread) noexcept;

}  // namespace quern::detail
