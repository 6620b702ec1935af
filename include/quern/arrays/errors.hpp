// SPDX-License-Identifier: BSL-1.0
// Errors of primitives that other languages tell from wrong values. All others are
// std::invalid_argument (wrong shapes and values), std::out_of_range (indices) and
// std::overflow_error (integers that do not fit).
#pragma once

#include <quern/base/detail/config.hpp>

#include <stdexcept>

namespace quern::arrays {

/// An operand of a type that the operation does not take: Python's TypeError.
class type_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// A scalar that is divided by 0: Python's ZeroDivisionError. Arrays give inf, nan or 0 instead.
class zero_division_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

}  // namespace quern::arrays
