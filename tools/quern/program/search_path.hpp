// SPDX-License-Identifier: BSL-1.0
// Programs by the name that a user types: for `quern run` and for what it starts itself.
#pragma once

#include <string>

namespace quern::tool {

/// The path of the program, found as the system would find it; empty if PATH has none of that name.
/// A name with a '/' is a path already.
std::string path_of(const std::string& program);

}  // namespace quern::tool
