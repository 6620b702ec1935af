// SPDX-License-Identifier: BSL-1.0
// Operands of primitives as what they must be: arrays, integers, axes, shapes, types. All throw
// std::invalid_argument, or type_error for a value of the wrong kind, with NumPy's message or one
// that names `what`, the parameter.
#pragma once

#include <quern/arrays/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::arrays::detail {

/// As np.asarray: scalars become arrays without dimensions, nested tuples are joined.
array array_from(const value& from, std::string_view what);
std::vector<array> arrays_from(const value& sequence, std::string_view what);

/// A whole number; also an array of one integer.
std::int64_t integer_from(const value& from, std::string_view what);
std::optional<std::int64_t> optional_integer_from(const value& from, std::string_view what);
double number_from(const value& from, std::string_view what);
std::string word_from(const value& from, std::string_view what);

/// One integer or a tuple of them.
std::vector<std::int64_t> integers_from(const value& from, std::string_view what);
extents shape_from(const value& from);
dtype dtype_from(const value& from, dtype otherwise);

/// A dimension from 0; negative ones count from the end.
std::size_t axis_in(std::int64_t axis, std::size_t dimensions);

/// The type of an array of this value.
dtype type_of(const value& of);

/// The tuple of these.
value tuple_of(std::vector<value> parts);

}  // namespace quern::arrays::detail
