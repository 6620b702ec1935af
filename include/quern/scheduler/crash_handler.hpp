// SPDX-License-Identifier: BSL-1.0
// A report when the program dies: which task, made where, on which worker, how full its stack is,
// and the calls that led there. Opt-in: nothing here happens unless the program asks for it, as
// quern::main does.
#pragma once

namespace quern {

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT (so abort, a failed assertion and
/// std::terminate too) print a report to stderr. Then the signal takes its course as before the
/// call: the handler that was there is called, or the program ends, with a core dump where the
/// system writes one. A task that has used up its stack is told from other faults and gets advice.
///
/// Returns whether reports are on: false when the setting crash_report is `off`, and in builds with
/// AddressSanitizer or ThreadSanitizer, whose own reports these signals are for (their option
/// handle_segv). Throws std::invalid_argument for a bad setting.
///
/// Stack overflows are reported in tasks, on the first thread that calls this, and on threads with
/// an alternate signal stack (sigaltstack) of their own. A function's file and line need debug
/// information (-g); one whose frame is larger than a page may step over the guard below the stack
/// (-fstack-clash-protection prevents that).
///
/// Thread safety: any thread; a second call does nothing but the calling thread's part. Cost: a few
/// system calls; nothing afterwards. A report takes up to a second in a large program.
///
///     int main() {
///         quern::install_crash_handler();
///         quern::async({.name = "reader"}, read_all).get();
///     }
bool install_crash_handler();

}  // namespace quern
