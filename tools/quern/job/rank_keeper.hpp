// SPDX-License-Identifier: BSL-1.0
// The process between an MPI starter and a rank. Starters tell how a rank ended in their own words,
// or not at all; this one waits for the rank and reports to `quern run`, by a datagram.
#pragma once

#include <string_view>

namespace quern::tool {

/// Of `quern` itself, before a folder; not for users.
inline constexpr std::string_view k_rank_keeper = "rank-of-a-job";

/// In the folder of a job: the socket of `quern run`, and the program's path and words, each ended
/// by a zero byte.
inline constexpr std::string_view k_reports_file = "reports";
inline constexpr std::string_view k_command_file = "command";

struct rank_report {
    enum class kind : int { started, exited, signalled, not_started };
    kind what;
    int rank;
    int process;
    int value;  ///< exit status, signal, or error of the system
};

/// Starts the job's program, waits for it, and ends as it ended. Signals to the process group reach
/// both; this process ignores those that can be ignored. The program ends with it.
int keep_rank(std::string_view folder);

}  // namespace quern::tool
