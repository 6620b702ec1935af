// SPDX-License-Identifier: BSL-1.0
// One run of a program with a limit: starts it, collects its output, stops it when it takes too
// long, and waits for it. Ends only process groups that it started.
#pragma once

#include "child/interruption.hpp"

#include <string>
#include <vector>

namespace quern::tool {

/// A program with its arguments and additions to the environment ("NAME=value").
struct program_words {
    std::vector<std::string> variables{};
    std::vector<std::string> command{};
};

/// How a run ended.
struct child_end {
    double seconds = 0;       ///< from its start to its end
    double processor_s = 0;   ///< of all its threads
    int start_error = 0;      ///< of the system, when it could not be started
    bool is_stopped = false;  ///< by the limit or by a signal to this process
    std::string failure{};    ///< "exit status 3"; empty: it worked, or it was stopped
    std::string output{};     ///< of stdout and stderr; the last part if it is long
};

/// Runs a program with /dev/null as its input, in a process group of its own. Past the limit, or
/// when a signal interrupts, the group gets SIGTERM, a second later SIGKILL. The program does not
/// outlive this process. Throws std::system_error when the system refuses what every run needs.
child_end run_child(const program_words& program, double limit_s, interruption& interrupted);

}  // namespace quern::tool
