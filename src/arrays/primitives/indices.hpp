// SPDX-License-Identifier: BSL-1.0
// What stands between the brackets of a[...]: as a view, and arrays of indices into it.
#pragma once

#include <quern/arrays/value.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern::arrays::detail {

/// Integers, slices, None and ... of an index make a view; masks and arrays of integers then choose
/// elements of it.
struct selection {
    array view;
    /// For each chosen dimension of `view`, outermost first: the indices, of int64, which are
    /// valid from 0 on and have one shape. Empty: the view is what was meant.
    std::vector<array> indices;
    std::vector<std::size_t> dimensions;  ///< those of `view` that `indices` are for
    extents shape;                        ///< of each of `indices`
    std::size_t place = 0;                ///< before how many of the other dimensions these come
    bool is_element = false;              ///< only integers, one for each dimension
};

/// Throws std::out_of_range, in NumPy's words, for an index that is none or out of bounds.
selection select(const array& from, const value& index);

/// The index as one of a dimension of this size: negative ones count from the end. Throws
/// std::out_of_range.
std::ptrdiff_t index_in(std::int64_t index, std::ptrdiff_t size, std::size_t axis);

/// A slice of a dimension.
struct span_of_slice {
    std::ptrdiff_t start;
    std::ptrdiff_t step;
    std::ptrdiff_t count;
};
/// Throws std::invalid_argument for a step of 0.
span_of_slice resolved(const slice& of, std::ptrdiff_t size);

}  // namespace quern::arrays::detail
