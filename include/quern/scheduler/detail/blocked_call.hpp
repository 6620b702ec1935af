// SPDX-License-Identifier: BSL-1.0
// A call that would block its thread, and threads that run something else meanwhile. The layer that
// makes such calls (mpi) and the one that has such threads (omp) do not know each other: they meet
// here.
#pragma once

#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

namespace quern::detail {

/// Lies on the stack of the caller until the event is set.
struct blocked_call {
    const external_event& event;  ///< set when the call may return
    void (*look)() noexcept;      ///< looks for the ends of calls; any thread
    wait_reason why;
    frame_registers from;
};

/// Threads that run something else. Both functions are called by any thread, for itself.
struct busy_threads {
    /// Whether the calling thread is one of them.
    bool (*is_one)() noexcept;
    /// Runs something else until the event is set. False: it cannot now, and the caller waits.
    bool (*run)(const blocked_call& meanwhile) noexcept;
};

/// Says that this process has such threads. Once.
void have_busy_threads(const busy_threads& how) noexcept;

/// Says that this process has calls that may be waited for so. `begin` is called once, before the
/// first wait, by begin_blocked_calls(). Once.
void have_blocked_calls(void (*begin)() noexcept) noexcept;

/// Whether it has such calls; if so they can be waited for from now on.
bool begin_blocked_calls() noexcept;

/// Whether the calling thread runs something else while a call waits.
bool is_busy_thread() noexcept;

/// Runs something else until the event is set. False: the caller must wait itself.
bool run_meanwhile(const blocked_call& call) noexcept;

}  // namespace quern::detail
