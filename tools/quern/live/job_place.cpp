// SPDX-License-Identifier: BSL-1.0
// Reads the environment of processes, in which starters tell ranks their numbers.
#include "live/job_place.hpp"

#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace quern::tool {

namespace {

constexpr const char* k_size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

std::optional<int> number_in(std::string_view variable, std::string_view name) {
    if (!variable.starts_with(name) || variable.substr(name.size(), 1) != "=") {
        return std::nullopt;
    }
    return topology::detail::parse_number<int>(variable.substr(name.size() + 1));
}

/// The first of these variables that a process has begun with, if it is a number.
std::optional<int> number_of(pid_t process, std::span<const char* const> names) {
    std::ifstream in(fmt::format("/proc/{}/environ", process), std::ios::binary);
    for (std::string variable; std::getline(in, variable, '\0');) {
        for (const std::string_view name : names) {
            if (const auto number = number_in(variable, name)) {
                return number;
            }
        }
    }
    return std::nullopt;
}

std::optional<int> rank_of(pid_t process) { return number_of(process, k_rank_variables); }

/// 0: it has ended.
pid_t parent_of(pid_t process) {
    std::ifstream in(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(in, line);) {
        constexpr std::string_view k_parent = "PPid:\t";
        if (line.starts_with(k_parent)) {
            return topology::detail::parse_number<pid_t>(
                       std::string_view(line).substr(k_parent.size()))
                .value_or(0);
        }
    }
    return 0;
}

}  // namespace

std::optional<job_place> place_in_job(pid_t process) {
    const std::optional<int> rank = rank_of(process);
    if (!rank) {
        return std::nullopt;
    }
    job_place place;
    place.rank = *rank;
    place.ranks = number_of(process, k_size_variables).value_or(1);
    // Between a rank and its starter there may be scripts, which have its variables too.
    place.starter = parent_of(process);
    while (place.starter > 1 && rank_of(place.starter) == rank) {
        place.starter = parent_of(place.starter);
    }
    return place;
}

}  // namespace quern::tool
