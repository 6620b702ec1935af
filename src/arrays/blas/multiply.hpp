// SPDX-License-Identifier: BSL-1.0
// Products of matrices and vectors: by the library where there is one, by loops of our own for
// integers, booleans, and without a library. Large ones are divided into tiles that are tasks; how
// depends on the shapes alone, so that results are the same for any number of workers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::arrays::detail {

/// Elements of a row (of a column, if by_columns) lie behind one another, rows `leading` elements
/// apart: at least as many as a row has.
template <class T>
struct matrix_view {
    const T* first = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t leading = 1;
    bool by_columns = false;

    matrix_view transposed() const noexcept { return {first, columns, rows, leading, !by_columns}; }
};

template <class T>
struct vector_view {
    const T* first = nullptr;
    std::int64_t size = 0;
    std::int64_t step = 1;  ///< elements; at least 1
};

/// c = a b; c in C order. Instantiated for the five element types; `or` of `and` for booleans.
template <class T>
void multiply(const matrix_view<T>& a, const matrix_view<T>& b, T* c);
/// y = a x.
template <class T>
void multiply(const matrix_view<T>& a, const vector_view<T>& x, T* y);
template <class T>
T inner_product(const vector_view<T>& a, const vector_view<T>& b);

/// Whether a product of this size is worth tasks of its own.
bool is_large_product(std::int64_t rows, std::int64_t columns, std::int64_t inner) noexcept;

}  // namespace quern::arrays::detail
