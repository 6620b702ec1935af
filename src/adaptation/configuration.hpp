// SPDX-License-Identifier: BSL-1.0
// What the settings of a runtime set in the log of decisions.
#pragma once

#include <string>

namespace quern::adaptation::detail {

/// "stderr", "stdout", the path of a file, which is appended to, or empty: nowhere. Throws
/// std::runtime_error for a file that cannot be opened; then nothing is written.
void write_decisions_to(const std::string& place);

}  // namespace quern::adaptation::detail
