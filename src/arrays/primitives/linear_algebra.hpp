// SPDX-License-Identifier: BSL-1.0
// Private to the family of linear algebra: its primitives by file, and matrices as BLAS and LAPACK
// take them.
#pragma once

#include "blas/functions.hpp"
#include "blas/multiply.hpp"
#include "blas/pivots.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"

#include <quern/arrays/primitive.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace quern::arrays::detail {

std::span<const primitive> product_primitives() noexcept;
std::span<const primitive> solver_primitives() noexcept;
std::span<const primitive> decomposition_primitives() noexcept;
std::span<const primitive> norm_primitives() noexcept;

array product(const array& a, const array& b);  ///< np.matmul's

/// The shape without its last two dimensions.
extents outer_shape(const array& a);

/// float32 for float32, else float64: what LAPACK computes with.
dtype lapack_type(dtype type);

/// Calls f with a null pointer to a const float or double.
template <class F>
decltype(auto) with_float(dtype type, F&& f) {
    if (type == dtype::float32) return f(static_cast<const float*>(nullptr));
    return f(static_cast<const double*>(nullptr));
}

/// Copies of the matrices in the last two dimensions, one behind the other, columns first.
struct matrix_stack {
    array memory;  ///< (..., columns, rows) in C order
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t count = 0;

    matrix_stack() = default;
    /// `a` with at least two dimensions.
    matrix_stack(const array& a, dtype type);
    /// Not initialised; as many as `like` has.
    matrix_stack(const matrix_stack& like, dtype type, std::int64_t rows, std::int64_t columns);

    template <class T>
    T* at(std::int64_t i) const noexcept {
        return memory.data<T>() + i * rows * columns;
    }
    /// The matrices as an array (..., rows, columns).
    array result() const;
};

/// An array of what each matrix of the stack has `length` of.
array vectors_of(const matrix_stack& like, dtype type, std::int64_t length);
/// An array of a number for each matrix.
array numbers_of(const matrix_stack& like, dtype type);

/// `of` as a matrix or more. Throws std::invalid_argument with NumPy's message for fewer than two
/// dimensions.
array matrices_from(const value& of);
array square_matrices_from(const value& of);

/// Calls run(i) for each matrix, as tasks when there are several. `work`: operations for one.
/// The first exception is thrown.
void for_matrices(const matrix_stack& all, std::int64_t work,
                  const std::function<void(std::int64_t)>& run);

/// The error of LAPACK, as std::domain_error.
[[noreturn]] void refuse_matrix(const char* message);

}  // namespace quern::arrays::detail
