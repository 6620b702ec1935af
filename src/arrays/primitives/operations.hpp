// SPDX-License-Identifier: BSL-1.0
// Elementwise operations: choosing the type, broadcasting, running the loop.
#pragma once

#include "kernels/elementwise.hpp"
#include "primitives/scalars.hpp"

#include <quern/arrays/value.hpp>

#include <array>
#include <span>
#include <string_view>

namespace quern::arrays::detail {

/// An operation with its loops.
struct operation {
    explicit operation(std::string_view name_of_it);

    std::string_view name;
    kernel_row* row;
    scalar_operator of_scalars;
    bool compares;         ///< of comparisons and logic: integers out of range are taken exactly
    bool refuses_boolean;  ///< subtract, negative, ...
    bool is_power;
};

/// The result in a new array; for Python's scalars a scalar where the operation is an operator.
value run_operation(const operation& of, std::span<const value> operands);

/// The result in the first operand, which must be an array; a new value for scalars and arrays
/// without dimensions, which Python's names are bound to anew.
value run_in_place(const operation& of, std::span<const value> operands);

/// At most three, without memory of their own.
struct operand_list {
    std::array<array, k_most_operands> arrays;
    std::size_t size = 0;

    std::span<const array> all() const noexcept { return {arrays.data(), size}; }
};

struct chosen_loop {
    const kernel_row* row;
    const kernel* of;
    operand_list inputs;
};

/// The loop, and the operands as arrays; scalars and single elements of the loop's type. Elements
/// of larger arrays are read only where they are exponents. Requires: arrays and numbers, not all
/// of them numbers where the operation is an operator. Throws what run_operation does.
chosen_loop choose_loop(const operation& of, std::span<const value> operands);

/// The type that arrays and scalars have together, scalars being weak. Throws type_error for other
/// values, which `what` did not expect.
dtype common_type(std::span<const value> operands, std::string_view what);

/// A scalar or array as an array; scalars get this type. Throws std::overflow_error for an integer
/// that does not fit.
array array_of_type(const value& from, dtype type, std::string_view what);

/// The shape of all together. Throws std::invalid_argument with NumPy's message, which names the
/// output of an operation in place as well.
extents common_shape(std::span<const array> arrays, const array* output = nullptr);

/// Whether NumPy's rule "same_kind" lets `from` be stored as `to`.
bool is_same_kind(dtype from, dtype to) noexcept;

}  // namespace quern::arrays::detail
