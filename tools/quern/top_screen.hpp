// SPDX-License-Identifier: BSL-1.0
// `quern top` on a terminal: shows a frame again and again and obeys keys.
#pragma once

#include "top_frame.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace quern::tool {

/// Asks for a snapshot of the program; throws when it has ended.
using snapshot_source = std::function<json_value()>;

/// Whether there is a terminal to show it on, and `quern` was built with curses.
bool has_screen();

/// Returns when the user wants to leave, or with the reason when the program cannot be asked any
/// more. Requires: has_screen().
std::string watch_on_screen(const snapshot_source& look, std::chrono::milliseconds interval);

}  // namespace quern::tool
