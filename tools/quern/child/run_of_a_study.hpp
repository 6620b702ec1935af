// SPDX-License-Identifier: BSL-1.0
// One run of a program for a study in Python (tools/study/child.py), so that all tools run programs
// by run_child.
#pragma once

#include <string_view>

namespace quern::tool {

/// Of `quern` itself, before a limit in seconds and a program with its arguments; not for users.
inline constexpr std::string_view k_run_of_a_study = "run-of-a-study";

/// Runs the program. Prints a line of JSON: `error` of the system if the program could not be
/// started, else `failure` (empty: it worked, or was stopped), `is_stopped`, `seconds`,
/// `processor_s`; then the end of the program's output as it is. Is stopped with its program by
/// SIGINT, SIGTERM and SIGHUP, and when the study ends. Throws std::invalid_argument for a bad
/// limit.
int run_for_a_study(std::string_view limit_s, char** words);

}  // namespace quern::tool
