// SPDX-License-Identifier: BSL-1.0
// Shared by the two files of the crash handler and the worker: the signal and its report
// (crash_handler.cpp, crash_report.cpp), and the stack on which both run.
#pragma once

#include <quern/context/stack_memory.hpp>

#include <ucontext.h>
#include <csignal>

namespace quern::detail {

struct fault {
    int signal;
    const siginfo_t& info;
    ucontext_t& machine;      ///< the registers from which the unwinder starts
    const void* instruction;  ///< the interrupted one
    const void* stack;        ///< the interrupted stack pointer

    /// Whether an instruction caused it, and would fault again; else the signal was sent.
    bool is_synchronous() const noexcept { return info.si_code > 0 && signal != SIGABRT; }
};

/// Where the unwinder starts: the instruction or, after a jump to an address without code, the call
/// that did it. Changes the registers accordingly.
const void* first_known_call(const fault& what) noexcept;

/// Writes the report to stderr. Called in a signal handler, on another stack than the fault's.
void write_crash_report(const fault& what) noexcept;

/// Makes the end of a worker's own stack, which is otherwise unused, its thread's signal stack, so
/// that a handler can run when a task's stack is full. Does nothing in builds with a sanitizer,
/// which has its own.
void lend_signal_stack(const stack_span& of_thread) noexcept;

}  // namespace quern::detail
