// SPDX-License-Identifier: BSL-1.0
// What must be known of the trace of a rank before traces can be joined: its place in the job, its
// clock, and its messages. Private to the layer.
#pragma once

#include <quern/trace/job.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// One end of a message.
struct message_end {
    std::uint64_t packet = 0;  ///< its number within the trace
    std::uint64_t at_ns = 0;   ///< since the beginning of the trace
    bool is_sent = false;
    int peer = 0;
    int tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0;
    std::uint64_t order = 0;
};

struct rank_trace {
    std::string path{};
    std::uint64_t file_bytes = 0;
    job_place place{};
    std::uint64_t runtime = 0;  ///< which of those of the process
    std::uint64_t begun_ns = 0;
    std::uint64_t ended_ns = 0;
    std::uint64_t duration_ns = 0;
    std::string program{};
    std::uint64_t pid = 0;
    std::uint64_t dropped = 0;
    std::vector<message_end> messages{};

    /// A time of the trace on the clock of rank 0.
    std::int64_t common_ns(std::uint64_t at_ns) const noexcept;

private:
    /// How far the clock of rank 0 is ahead at a time of the process's clock.
    std::int64_t ahead_ns(std::int64_t here) const noexcept;
};

/// Reads a whole file. `read`: told the number of bytes after each packet. Throws
/// std::runtime_error for what is no trace of a rank.
rank_trace read_rank_trace(const std::string& path, const std::function<void(std::uint64_t)>& read);

}  // namespace quern::trace::detail
