// SPDX-License-Identifier: BSL-1.0
// Watching a program for `quern top`: asks it about twenty times a second, on one connection, and
// makes a frame of all that was seen since the last one.
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

/// Every call asks the program, and throws cannot_ask when it has ended.
class top_watch {
public:
    explicit top_watch(pid_t program);

    /// Sees which tasks run at this moment.
    void look();
    /// How long to wait until the next look: not always the same, so that a program that does
    /// something at regular intervals is not seen at the same place each time.
    std::chrono::milliseconds pause();
    void look_for(std::chrono::milliseconds interval);

    /// What happened since the last frame.
    top_frame frame();

private:
    void count(const json_value& snapshot);
    void take_sites(top_frame& into);
    void take_power(top_frame& into);

    const pid_t m_program;
    counters::conversation m_with;
    json_value m_before;
    double m_power_read_s = 0;                                  ///< when, since the runtime began
    std::map<std::pair<std::string, std::string>, int> m_seen;  ///< name and place, and how often
    int m_samples = 0;  ///< workers that were looked at, each as often as it was
    std::minstd_rand m_random;
};

}  // namespace quern::tool
