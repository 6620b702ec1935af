// SPDX-License-Identifier: BSL-1.0
// Copies of elements between arrays of any strides and types, and views with other dimensions.
#pragma once

#include <quern/arrays/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::arrays::detail {

/// Calls f with a null pointer to a const object of the C++ type of `type`.
template <class F>
decltype(auto) with_element(dtype type, F&& f) {
    switch (type) {
        case dtype::boolean:
            return f(static_cast<const bool*>(nullptr));
        case dtype::int32:
            return f(static_cast<const std::int32_t*>(nullptr));
        case dtype::int64:
            return f(static_cast<const std::int64_t*>(nullptr));
        case dtype::float32:
            return f(static_cast<const float*>(nullptr));
        default:
            return f(static_cast<const double*>(nullptr));
    }
}

/// From this many bytes on a pass over memory is divided among workers.
inline constexpr std::ptrdiff_t k_pass_bytes = 1 << 18;

/// to[i] = from[i], converted; the shapes are the same, the memory does not overlap. By tasks where
/// there is much.
void copy_elements(const array& to, const array& from);

/// A new array in C order.
array copied(const array& from, dtype type);
/// The array itself if it has that type.
array converted(const array& from, dtype type);
/// The array itself if it is in C order.
array contiguous(const array& from);
array zeroed(dtype type, const extents& shape);

/// A view with strides 0. Throws std::invalid_argument with NumPy's message.
array broadcast_view(const array& from, const extents& shape);
array swapped_axes(const array& from, std::size_t a, std::size_t b);
/// Dimension `from` becomes `to`; the others keep their order.
array moved_axis(const array& of, std::size_t from, std::size_t to);
/// In one dimension, in C order; a view where that can be.
array flattened(const array& from);
/// A view with one more dimension, of length 1.
array expanded(const array& from, std::size_t axis);
/// A view without a dimension of length 1.
array without_axis(const array& a, std::size_t axis);
/// Elements [first, last) along a dimension.
array part_of(const array& from, std::size_t axis, std::ptrdiff_t first, std::ptrdiff_t last);

/// Arrays of one shape along a new dimension.
array stacked(std::span<const array> parts, std::size_t axis, dtype type);

}  // namespace quern::arrays::detail
