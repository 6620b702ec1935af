// SPDX-License-Identifier: BSL-1.0
// The loops of all operations, by name and type.
#pragma once

#include <quern/arrays/kernels.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace quern::arrays::detail {

/// One loop: all inputs have the type `computes`, but for the condition of `where`.
struct kernel {
    kernel_loop loop = nullptr;
    void* data = nullptr;
    dtype computes = dtype::float64;
    dtype output = dtype::float64;
    kernel_loop own = nullptr;  ///< what `loop` was at first
};

/// The loops of an operation. A type without a loop of its own has that of the next type that
/// holds it, as in NumPy; without any, `loop` is null.
struct kernel_row {
    std::string_view name;
    std::size_t inputs = 1;
    bool condition_first = false;  ///< the first input is boolean whatever the others are
    bool is_dear = false;          ///< tens of cycles for an element rather than one or two
    bool is_replaceable = true;
    std::array<kernel, 5> of{};

    const kernel& at(dtype type) const noexcept { return of[static_cast<std::size_t>(type)]; }
    kernel& at(dtype type) noexcept { return of[static_cast<std::size_t>(type)]; }
};

/// The row of that name. Throws std::logic_error if there is none.
kernel_row& row_named(std::string_view name);

/// All rows, by name.
std::vector<kernel_row>& kernel_rows();

/// What table.cpp joins.
std::vector<kernel_row> arithmetic_rows();
std::vector<kernel_row> math_rows();
std::vector<kernel_row> comparison_rows();

/// Converts elements; null for equal types.
kernel_loop cast_loop(dtype from, dtype to) noexcept;
/// Copies elements of one type.
kernel_loop copy_loop(dtype type) noexcept;

}  // namespace quern::arrays::detail
