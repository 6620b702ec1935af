// SPDX-License-Identifier: BSL-1.0
// Who waits for what: the answer to "why does it not go on?". Written to stderr by itself when no
// task can run any more (the setting hang_report), and given to whoever asks.
#pragma once

#include <string>

namespace quern {

/// Every suspended task of every runtime in the process, every thread outside that waits in Quern,
/// and every task that blocks its worker in the kernel: its name, where it was made, where it waits
/// and what for, who holds that, and for how long. Tasks that agree in all of it share a line. Lock
/// cycles are named as cycles. Of tasks that run meanwhile it may tell what was true a moment ago.
/// Of suspended coroutines those are among them that have a note (docs/hang-reports.md).
///
/// Also running tasks whose worker sleeps in the kernel: in a std::mutex, in input and output.
///
/// Thread safety: any thread, also a task. Cost: some 30 microseconds a suspended task.
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
