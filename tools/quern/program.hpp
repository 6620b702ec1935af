// SPDX-License-Identifier: BSL-1.0
// The programs that `quern top`, `quern tasks` and `quern counters` can query: selection and
// queries.
#pragma once

#include "json_reader.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <string>
#include <string_view>

namespace quern::tool {

/// The process that a user means: its id, the name of a program that runs once, or nothing if there
/// is only one. Throws usage_error, with the list of programs, and cannot_ask.
pid_t find_program(std::string_view subcommand, const std::string& wanted);

/// Sends a query; throws cannot_ask also for another protocol version or a refusal.
json_value ask_program(pid_t program, std::string_view request);

/// The same on an open connection.
json_value ask_program(counters::conversation& with, pid_t program, std::string_view request);

}  // namespace quern::tool
