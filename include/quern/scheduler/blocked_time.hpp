// SPDX-License-Identifier: BSL-1.0
// How long workers slept in the kernel in the middle of a task: in a std::mutex, a read, a page
// fault. Nothing notes such a sleep. It is what remains of a worker's time when the time is taken
// away that its thread ran, waited for a processor, or slept for want of work. Asked by counters,
// recordings and reports.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <sys/types.h>

namespace quern::detail {

class worker;

/// Of one worker since it began. What it waits for a processor after a wake-up is taken away twice,
/// and what it waited before it began; so the result is rather too small, and may be less than 0.
/// Differences of two results are for showing, at least 0. Any thread, while the pool lives.
/// Cost: three calls of the kernel, 10 us.
topology::outcome<double> read_blocked_ns(const worker& of, const topology::system_root& root = {});

/// Time that a thread of this process has run, exact also while it runs; 0 when it is gone.
double thread_run_ns(pid_t thread) noexcept;

}  // namespace quern::detail
