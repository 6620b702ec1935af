// SPDX-License-Identifier: BSL-1.0
// The programs that `quern top`, `quern tasks` and `quern counters` can query: selection and
// queries.
#pragma once

#include "job_place.hpp"
#include "json_reader.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

/// The process that a user means: its id, the name of a program that runs once, or nothing if there
/// is only one. Throws usage_error, with the list of programs, and cannot_ask.
pid_t find_program(std::string_view subcommand, const std::string& wanted);

struct found_program {
    pid_t number = 0;
    std::optional<job_place> place{};  ///< of a rank of a job, if it was not named by its number
};

/// The same, but if all that run under the name, or all that run, are ranks of one job, these are
/// meant, in their order. Not empty.
std::vector<found_program> find_program_or_job(std::string_view subcommand,
                                               const std::string& wanted);

/// Sends a query; throws cannot_ask also for another protocol version or a refusal.
json_value ask_program(pid_t program, std::string_view request);

/// The same on an open connection.
json_value ask_program(counters::conversation& with, pid_t program, std::string_view request);

}  // namespace quern::tool
