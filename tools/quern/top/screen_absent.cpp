// SPDX-License-Identifier: BSL-1.0
// Without curses: no screen.
#include "top/screen.hpp"

namespace quern::tool {

bool has_screen() { return false; }

std::string watch_on_screen(top_subject&, std::chrono::milliseconds) { return ""; }

}  // namespace quern::tool
