// SPDX-License-Identifier: BSL-1.0
// The kernel's view of the threads of this process: whether they sleep, in which call, and how long
// they have run. For reports on threads outside Quern's control.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quern::detail {

struct seen_thread {
    std::string name;   ///< from the kernel
    std::string doing;  ///< "sleeps for a time (clock_nanosleep)"; the subject is "it"
    bool sleeps = false;
    std::vector<const void*> calls;  ///< as far as known without its registers
};

/// Sets only `doing` if the thread has ended or the system does not report it.
seen_thread look_at_thread(pid_t id);

/// Time that it has run; 0: unknown. Cost: a system call.
std::uint64_t cpu_ns_of(pid_t id) noexcept;

/// All threads of the process; empty if the system does not report them.
std::vector<pid_t> threads_of_process();

}  // namespace quern::detail
