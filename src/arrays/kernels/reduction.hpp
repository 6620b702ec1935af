// SPDX-License-Identifier: BSL-1.0
// Reductions along dimensions. Each result is computed by a tree that only the shape, the strides
// and the axes determine, so that it is the same for any number of workers.
#pragma once

#include <quern/arrays/array.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace quern::arrays::detail {

enum class reduction { sum, product, minimum, maximum, any, all, count };

/// Which dimensions are reduced.
using axis_set = std::array<bool, k_max_dimensions>;

/// The type that the result of a reduction of this type has.
dtype reduced_type(reduction which, dtype type) noexcept;

/// Reduces `from` into `to`, an array in C order with the remaining dimensions and the type
/// reduced_type(). Requires: at least one element for each result, but for sum, product, any, all
/// and count, which have a value for none. The error of a sum of n numbers is at most
/// (16 + log2(n / 128)) eps times the sum of their absolute values where the numbers lie along the
/// innermost dimension, (128 + log2(n / 128)) eps otherwise.
void reduce(reduction which, const array& from, const axis_set& axes, const array& to);

}  // namespace quern::arrays::detail
