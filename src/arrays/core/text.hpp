// SPDX-License-Identifier: BSL-1.0
// Shapes as NumPy's messages write them.
#pragma once

#include <quern/arrays/array.hpp>

#include <string>

namespace quern::arrays::detail {

/// "(2,3)", "(3,)", "()".
std::string text_of(const extents& shape);

}  // namespace quern::arrays::detail
