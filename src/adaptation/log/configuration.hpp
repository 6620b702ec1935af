// SPDX-License-Identifier: BSL-1.0
// The log of decisions, as attach_adaptation.cpp uses it: what the settings of a runtime set, and
// what the answers to other processes contain.
#pragma once

#include <quern/adaptation/decisions.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace quern::adaptation::detail {

/// "stderr", "stdout", the path of a file, which is appended to, or empty: nowhere. Throws
/// std::runtime_error for a file that cannot be opened; then nothing is written.
void write_decisions_to(const std::string& place);

/// At most so many of the newest decisions, the oldest first and without trials.
std::vector<decision> newest_choices(std::size_t most);

}  // namespace quern::adaptation::detail
