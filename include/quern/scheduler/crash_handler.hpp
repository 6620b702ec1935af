// SPDX-License-Identifier: BSL-1.0
// A report when the program crashes: the running task, where it was created, its worker, how full
// its stack is, and the call stack. Opt-in: a program must ask for it, as quern::main does.
#pragma once

namespace quern {

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT (hence abort, a failed assertion and
/// std::terminate too) print a report to stderr. Then the signal has its previous effect: the
/// earlier handler is called, or the program ends, with a core dump where the system writes one. A
/// stack overflow in a task is recognised and gets advice.
///
/// Returns whether reports are on. False when the setting crash-report is `off`, and in builds with
/// AddressSanitizer or ThreadSanitizer, which report these signals themselves (option handle_segv).
/// Throws std::invalid_argument for a bad setting.
///
/// Stack overflows are reported in tasks, on the first thread that calls this, and on threads with
/// an alternate signal stack (sigaltstack) of their own. A function's file and line need debug
/// information (-g). A function whose frame is larger than a page may step over the guard below the
/// stack; -fstack-clash-protection prevents that.
///
/// Thread safety: any thread; a second call only does the calling thread's part. Cost: a few system
/// calls; nothing afterwards. A report takes up to a second in a large program.
///
///     int main() {
///         quern::install_crash_handler();
///         quern::async({.name = "reader"}, read_all).get();
///     }
bool install_crash_handler();

}  // namespace quern
