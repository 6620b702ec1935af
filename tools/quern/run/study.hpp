// SPDX-License-Identifier: BSL-1.0
// Subcommands that the Python package tools/study implements.
#pragma once

#include "command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

/// Whether the package implements a subcommand of that name.
bool is_study(std::string_view name);

/// Replaces this process by the package; `words` is the command line of `quern` without its first
/// word. Returns only by std::runtime_error, when python3 or the package is missing.
[[noreturn]] void run_study(const std::vector<std::string>& words);

}  // namespace quern::tool
