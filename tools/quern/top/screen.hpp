// SPDX-License-Identifier: BSL-1.0
// `quern top` on a terminal: refreshes a frame and obeys keys.
#pragma once

#include "top/subject.hpp"

#include <chrono>
#include <string>

namespace quern::tool {

/// Whether there is a terminal, and `quern` was built with curses.
bool has_screen();

/// Returns when the user quits, or with the reason when there is nothing to show any more.
/// Requires: has_screen().
std::string watch_on_screen(top_subject& subject, std::chrono::milliseconds interval);

}  // namespace quern::tool
