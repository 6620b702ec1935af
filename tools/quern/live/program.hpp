// SPDX-License-Identifier: BSL-1.0
// The programs that `quern top`, `quern tasks` and `quern counters` can query: selection and
// queries.
#pragma once

#include "live/job_place.hpp"
#include "live/json_reader.hpp"

#include <quern/counters/programs.hpp>

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

struct found_program {
    pid_t number = 0;
    std::optional<job_place> place{};  ///< of a rank of a job, if it was not named by its number
};

/// What a user means: the process with this id, the only program that runs under this name or at
/// all, or, if all of these are ranks of one job, those, in their order. Not empty. Throws
/// usage_error, with the list of programs, and cannot_ask.
std::vector<found_program> find_programs(std::string_view subcommand, const std::string& wanted);

/// A line that stands before what is told of a rank. Requires: it has a place.
std::string heading_of(const found_program& rank);

/// Sends a query; throws cannot_ask also for another protocol version or a refusal.
json_value ask_program(pid_t program, std::string_view request);

/// The same on an open connection.
json_value ask_program(counters::conversation& with, pid_t program, std::string_view request);

}  // namespace quern::tool
