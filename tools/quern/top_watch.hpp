// SPDX-License-Identifier: BSL-1.0
// Watches a program for `quern top`: queries it about twenty times a second, on one connection, and
// makes a frame of all snapshots since the last one.
#pragma once

#include "top_frame.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace quern::tool {

/// Every call queries the program, and throws cannot_ask when it has ended.
class top_watch {
public:
    explicit top_watch(pid_t program);

    /// Samples which tasks run now.
    void look();
    /// The time to the next sample. It varies, so that a program with a regular rhythm is not
    /// always sampled in the same phase.
    std::chrono::milliseconds pause();
    void look_for(std::chrono::milliseconds interval);

    /// What happened since the last frame.
    top_frame frame();

private:
    void count(const json_value& snapshot);
    void take_sites(top_frame& into);
    void take_power(top_frame& into);
    void take_decisions(top_frame& into);

    const pid_t m_program;
    counters::conversation m_with;
    json_value m_before;
    double m_power_read_s = 0;  ///< time of the last reading, since the runtime began
    std::map<std::pair<std::string, std::string>, int> m_seen;  ///< samples by name and place
    int m_samples = 0;  ///< number of samples, summed over workers
    std::minstd_rand m_random;
};

}  // namespace quern::tool
