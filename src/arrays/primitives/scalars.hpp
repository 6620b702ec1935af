// SPDX-License-Identifier: BSL-1.0
// Python's own arithmetic, for operators whose operands are all Python's bool, int and float.
#pragma once

#include <quern/arrays/value.hpp>

#include <span>
#include <string_view>

namespace quern::arrays::detail {

/// What an operator gives for Python's scalars. Throws std::overflow_error where an integer does
/// not fit into int64, zero_division_error, type_error.
using scalar_operator = value (*)(std::span<const value>);

/// Null for operations that are no operators of Python.
scalar_operator scalar_operator_named(std::string_view name) noexcept;

inline bool is_scalar(const value& v) noexcept {
    return v.is<std::int64_t>() || v.is<double>() || v.is<bool>();
}

}  // namespace quern::arrays::detail
