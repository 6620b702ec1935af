// SPDX-License-Identifier: BSL-1.0
// The report of suspended tasks and what they wait for. Written to stderr when no task can run any
// more (the setting hang-report), and returned to a program that asks.
#pragma once

#include <string>

namespace quern {

/// Every suspended task of every runtime in the process, every outside thread that waits in Quern,
/// and every task that blocks its worker in the kernel, as in a std::mutex or in input and output.
/// Each with its name, where it was created, where it waits, what for and for how long, and the
/// holder of that. Tasks that agree in all of these share a line. Lock cycles are shown as cycles.
/// For tasks that run meanwhile the report may be slightly out of date. It includes suspended
/// coroutines that have a note (docs/hang-reports.md).
///
/// Thread safety: any thread, also a task. Cost: about 30 microseconds per suspended task.
///
///     std::fputs(quern::task_report().c_str(), stderr);
///
///     // 2 tasks are suspended:
///     //   #1 task 'left' waits 1.0 s for mutex 0x7ffd5c10, held by #2 task 'right'
///     //      waits in main()'s lambda at dinner.cpp:9
///     //      made in main() at dinner.cpp:12
///     //   #2 task 'right' waits 1.0 s for mutex 0x7ffd5c40, held by #1 task 'left'
///     //      made in main() at dinner.cpp:16
///     // cycle of 2 locks: #1 waits for #2, #2 waits for #1
std::string task_report();

}  // namespace quern
