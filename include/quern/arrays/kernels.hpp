// SPDX-License-Identifier: BSL-1.0
// The loops that compute elements, and how a language that has better ones puts its own in place.
#pragma once

#include <quern/arrays/dtype.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace quern::arrays {

/// Computes *count elements: arguments are the inputs' addresses and then the output's, strides the
/// bytes from an element to the next of each. The signature of the inner loops of NumPy's ufuncs.
/// Input and output are the same memory or do not overlap; strides may be 0 and negative. Runs on
/// workers, several at the same time, on parts of one array; must not throw.
using kernel_loop = void (*)(char** arguments, const std::ptrdiff_t* count,
                             const std::ptrdiff_t* strides, void* data);

/// A loop's place in the table: the operation and its types.
struct kernel_signature {
    std::string_view name;      ///< "add": the name of the primitive
    std::vector<dtype> inputs;  ///< one for each input
    dtype output;
};

/// All loops that can be replaced, by name. Cost: builds the list.
std::vector<kernel_signature> replaceable_kernels();

/// Puts `loop`, called with `data`, in the place of a loop of ours. Gives whether there is one of
/// that name and these types that can be replaced; if not, nothing changes. Null puts ours back.
/// Thread safety: not while others use arrays; call it when the program begins.
///
///     void use_own_exp(quern::arrays::kernel_loop better) {
///         const auto type = quern::arrays::dtype::float64;
///         quern::arrays::replace_kernel("exp", {&type, 1}, type, better, nullptr);
///     }
bool replace_kernel(std::string_view name, std::span<const dtype> inputs, dtype output,
                    kernel_loop loop, void* data);

}  // namespace quern::arrays
