// SPDX-License-Identifier: BSL-1.0
// Runs a loop over arrays of any strides: joins dimensions, converts through small buffers where
// types differ, and divides large ranges among tasks.
#pragma once

#include "kernels/table.hpp"

#include <quern/arrays/array.hpp>

#include <span>

namespace quern::arrays::detail {

inline constexpr std::size_t k_most_operands = 4;  ///< three inputs and the output

/// The strides with which an array of this shape is read as one of `shape`. Requires: it can be.
extents broadcast_strides(const array& of, const extents& shape);

/// What to run. Inputs are broadcast to the output's shape. An input whose type is not the loop's
/// is converted, and so is the output.
struct elementwise_run {
    kernel_loop loop;
    void* data = nullptr;
    std::span<const array> inputs;
    std::span<const dtype> input_types;  ///< the loop's
    const array* output;
    dtype output_type;  ///< the loop's
    bool is_dear = false;
};

/// Requires: inputs can be broadcast to the output's shape; an input that shares memory with the
/// output has the same elements at the same places, or `without_overlap` was called.
void run_elementwise(const elementwise_run& run);

/// The input itself, or a copy if it shares memory with the output in another order.
array without_overlap(const array& input, const array& output);

/// The loop of a kernel on inputs of any type: run_elementwise with the types of the kernel.
void run_kernel(const kernel_row& row, const kernel& of, std::span<const array> inputs,
                const array& output);

}  // namespace quern::arrays::detail
