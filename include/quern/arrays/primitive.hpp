// SPDX-License-Identifier: BSL-1.0
// The operations that nodes of trees do, by name, with NumPy's names and meaning.
#pragma once

#include <quern/arrays/value.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace quern::arrays {

/// One operation. The table is fixed when the program is compiled.
struct primitive {
    std::string_view name;        ///< NumPy's: "add", "matmul", "sum"; "getitem", "setitem"
    std::string_view parameters;  ///< "a, axis=None, keepdims=False": how calls are bound
    /// Gets a value for each parameter, in order; defaults filled in by the caller.
    /// `sum` of a shape or type that cannot be: std::invalid_argument with NumPy's message.
    /// Elements are computed by tasks of the current pool where there are many. Thread safe, but
    /// for primitives that write to their first operand.
    value (*run)(std::span<const value> operands);
    bool writes_first_operand = false;  ///< setitem and in-place operators
    /// Elementwise on broadcast operands, so that chains of them can be fused.
    bool is_elementwise = false;
};

/// The primitive of that name, or null.
const primitive* find_primitive(std::string_view name) noexcept;

/// All, by name.
std::span<const primitive> all_primitives() noexcept;

/// Runs a primitive of fewer operands than parameters: the defaults are filled in. Throws
/// std::invalid_argument where there is no such primitive (with the nearest name) or an operand is
/// missing or too many.
///
///     using namespace quern::arrays;
///     value total = call("sum", {call("add", {a, 1.0})});
value call(std::string_view name, std::initializer_list<value> operands);

}  // namespace quern::arrays
