// SPDX-License-Identifier: BSL-1.0
// Primitives along one axis: the place of an extreme, running sums and products.
#pragma once

#include <quern/arrays/value.hpp>

#include <span>

namespace quern::arrays::detail {

/// a, axis, keepdims.
value run_argmin(std::span<const value> operands);
value run_argmax(std::span<const value> operands);
/// a, axis, dtype.
value run_cumsum(std::span<const value> operands);
value run_cumprod(std::span<const value> operands);

}  // namespace quern::arrays::detail
