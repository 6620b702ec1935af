// SPDX-License-Identifier: BSL-1.0
// What the kernel knows of the threads of this process: whether they sleep, in which call, and how
// long they have run. For reports of threads that Quern cannot ask.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quern::detail {

struct seen_thread {
    std::string name;   ///< as the system shows it
    std::string doing;  ///< "sleeps for a time (clock_nanosleep)"; what follows on "it"
    bool sleeps = false;
    std::vector<const void*> calls;  ///< as far as they can be found without its registers
};

/// Nothing but `doing` where the thread has ended or the system does not tell.
seen_thread look_at_thread(pid_t id);

/// How long it has run; 0: unknown. Cost: a system call.
std::uint64_t cpu_ns_of(pid_t id) noexcept;

/// All threads of the process; empty where the system does not tell.
std::vector<pid_t> threads_of_process();

}  // namespace quern::detail
