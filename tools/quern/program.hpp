// SPDX-License-Identifier: BSL-1.0
// The programs that `quern top`, `quern tasks` and `quern counters` look into: which one is meant,
// and what it answers.
#pragma once

#include "json_reader.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <string>
#include <string_view>

namespace quern::tool {

/// The process that a user means: its number, the name of a program that runs once, or nothing
/// where there is only one. Throws usage_error with the programs there are, and cannot_ask.
pid_t find_program(std::string_view subcommand, const std::string& wanted);

/// Asks; throws cannot_ask also when the program speaks another protocol or refuses.
json_value ask_program(pid_t program, std::string_view request);

/// The same on a connection, for a program that was asked before.
json_value ask_program(counters::conversation& with, pid_t program, std::string_view request);

}  // namespace quern::tool
