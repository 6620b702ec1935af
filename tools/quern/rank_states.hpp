// SPDX-License-Identifier: BSL-1.0
// Collects what the ranks of a job publish when they can do nothing by themselves, and reports on
// stderr when the job hangs, once for each time. Part of `quern run -n`.
#pragma once

#include "job_hang.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quern::tool {

class rank_states {
public:
    using clock = std::chrono::steady_clock;

    /// Makes the socket in the folder of the job. Throws std::system_error.
    rank_states(unsigned ranks, std::string folder);
    ~rank_states();
    rank_states(const rank_states&) = delete;
    rank_states& operator=(const rank_states&) = delete;

    /// Readable when a rank has something to tell: then call read().
    int descriptor() const noexcept { return m_receiver; }
    void read();

    /// When to call look(), unless something is read before.
    std::optional<clock::time_point> due() const noexcept { return m_due; }
    /// Unless the job ends and no report is wanted any more.
    void look(bool is_wanted);

private:
    bool is_told() const { return m_versions == m_told; }
    std::vector<rank_state> all_states() const;

    const unsigned m_count;
    const std::string m_folder;
    int m_receiver;
    std::map<int, std::uint64_t> m_versions;  ///< of the ranks that can do nothing
    std::map<int, std::uint64_t> m_told;      ///< the versions of the last report
    std::optional<clock::time_point> m_due{};
};

}  // namespace quern::tool
