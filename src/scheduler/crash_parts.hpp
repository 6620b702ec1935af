// SPDX-License-Identifier: BSL-1.0
// What the two files of the crash handler share with each other and with the worker: the signal and
// its report (crash_handler.cpp, crash_report.cpp), and the stack on which both run.
#pragma once

#include <quern/context/stack_memory.hpp>

#include <ucontext.h>
#include <csignal>

namespace quern::detail {

/// A signal as the handler gets it.
struct fault {
    int signal;
    const siginfo_t& info;
    ucontext_t& machine;      ///< the registers, from which the unwinder goes on
    const void* instruction;  ///< that was interrupted
    const void* stack;        ///< where its stack pointer stood

    /// Whether an instruction is to blame, which would fault again; else somebody sent the signal.
    bool is_synchronous() const noexcept { return info.si_code > 0 && signal != SIGABRT; }
};

/// Where the unwinder can begin: the instruction, or, when a jump led to where there is no code,
/// the call that did it; the registers are changed accordingly.
const void* first_known_call(const fault& what) noexcept;

/// Writes all that is known to stderr. In a signal handler, on another stack than the fault's.
void write_crash_report(const fault& what) noexcept;

/// Makes the end of a worker's own stack, which nothing else ever reaches, its thread's signal
/// stack: so that a handler can run when a task's stack is full. In builds with a sanitizer, which
/// has its own, nothing.
void lend_signal_stack(const stack_span& of_thread) noexcept;

}  // namespace quern::detail
