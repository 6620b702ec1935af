// SPDX-License-Identifier: BSL-1.0
// Watches a program for `quern top`: queries it about twenty times a second, on one connection, and
// makes a frame of all snapshots since the last one.
#pragma once

#include "top/frame.hpp"
#include "top/subject.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::tool {

/// Every call queries the program, and throws cannot_ask when it has ended.
class top_watch {
public:
    explicit top_watch(pid_t program);

    /// Samples which tasks run now.
    void look();

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
};

/// One program.
class top_program final : public top_subject {
public:
    explicit top_program(pid_t program) : m_watch(program) {}

    void look() override { m_watch.look(); }
    void renew() override { m_frame = m_watch.frame(); }
    std::vector<std::string> lines(top_order order, std::size_t width) const override;
    std::string as_json() const override;

private:
    top_watch m_watch;
    std::optional<top_frame> m_frame{};
};

}  // namespace quern::tool
