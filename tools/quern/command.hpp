// SPDX-License-Identifier: BSL-1.0
// The interface between main.cpp and the subcommands of `quern`. A subcommand is one file with one
// function that adds it to the command line; main.cpp only lists these functions.
#pragma once

#include <command_line.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::tool {

/// The action of a subcommand, called after parsing; returns the exit status.
using action = std::function<int()>;

/// The user's mistake: printed as it is, exit status 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr int k_success = 0;
inline constexpr int k_failure = 1;
inline constexpr int k_usage = 2;

/// Calls f; an unknown or bad setting of the runtime becomes a usage_error too.
template <class F>
auto reading_settings(F&& f) {
    try {
        return f();
    } catch (const std::invalid_argument& error) {
        throw usage_error(error.what());
    }
}

/// Each adds one subcommand, which sets `chosen` when it is named.
void add_info(cli::command& quern, action& chosen);
void add_top(cli::command& quern, action& chosen);
void add_tasks(cli::command& quern, action& chosen);
void add_counters(cli::command& quern, action& chosen);
void add_decisions(cli::command& quern, action& chosen);
void add_trace(cli::command& quern, action& chosen);
/// The names of the subcommands of study.hpp, for the help and for the nearest match.
void add_studies(cli::command& quern);
/// `program`: the words after "--".
void add_run(cli::command& quern, action& chosen, const std::vector<std::string>& program);
void add_tune(cli::command& quern, action& chosen, const std::vector<std::string>& program);

}  // namespace quern::tool
