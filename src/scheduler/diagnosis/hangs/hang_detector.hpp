// SPDX-License-Identifier: BSL-1.0
// The setting hang-report with a number: a report after so long in which nothing has run, although
// something might still wake a task: a thread of which Quern knows nothing, or a task that has
// blocked its worker in the kernel, say in a std::mutex. There may be no worker left that could
// look, so the thread for timers does.
#pragma once

#include <quern/scheduler/detail/periodic_call.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include <sys/types.h>

namespace quern::detail {

class hang_detector {
public:
    /// Throws std::system_error without a thread.
    explicit hang_detector(std::chrono::seconds limit);

private:
    using clock = periodic_call::clock;

    /// Whether anything has begun, or any thread of the pools has run, since the last look.
    bool has_run(std::uint64_t begun);
    clock::time_point look();

    const std::chrono::nanoseconds m_limit;
    const std::chrono::nanoseconds m_interval;
    clock::time_point m_still_since = clock::now();
    std::uint64_t m_begun = 0;
    std::map<pid_t, std::uint64_t> m_ran;  ///< how long the threads of the pools have run
    bool m_said = false;                   ///< of what is so since then
    std::optional<periodic_call> m_looks;  ///< the last member: it uses the others
};

}  // namespace quern::detail
