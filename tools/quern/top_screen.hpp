// SPDX-License-Identifier: BSL-1.0
// `quern top` on a terminal: shows a frame again and again and obeys keys.
#pragma once

#include "top_watch.hpp"

#include <chrono>
#include <string>

namespace quern::tool {

/// Whether there is a terminal to show it on, and `quern` was built with curses.
bool has_screen();

/// Returns when the user wants to leave, or with the reason when the program cannot be asked any
/// more. Requires: has_screen().
std::string watch_on_screen(top_watch& watch, std::chrono::milliseconds interval);

}  // namespace quern::tool
