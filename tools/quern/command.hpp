// SPDX-License-Identifier: BSL-1.0
// What main.cpp and the subcommands of `quern` know of one another. A subcommand is one file with
// one function that adds it to the command line; main.cpp lists these functions and does nothing
// else for any of them in particular.
#pragma once

#include <command_line.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::tool {

/// What to do once the command line is understood; returns the exit status.
using action = std::function<int()>;

/// The user's mistake: printed as it is, exit status 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr int k_success = 0;
inline constexpr int k_failure = 1;
inline constexpr int k_usage = 2;

/// Calls f; a setting of the runtime that is unknown or bad is the user's mistake too.
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
void add_grain(cli::command& quern, action& chosen);
void add_tasks(cli::command& quern, action& chosen);
void add_counters(cli::command& quern, action& chosen);
/// `program` is what stood behind "--".
void add_run(cli::command& quern, action& chosen, const std::vector<std::string>& program);

}  // namespace quern::tool
