// SPDX-License-Identifier: BSL-1.0
// Factorisations of large matrices in blocks that are tasks: LAPACK factors the diagonal blocks,
// and tiles of the rest are updated in parallel. The blocks depend on the size alone, so results
// are the same for any number of workers. Matrices are square, columns first, without gaps.
#pragma once

#include "blas/functions.hpp"

#include <cstdint>

namespace quern::arrays::detail {

/// From this size on blocks are faster than one call, and smaller matrices go to LAPACK whole.
inline constexpr std::int64_t k_blocked_size = 256;

/// a becomes L and U with rows exchanged; order[i]: the row, from 0, that row i was exchanged with.
/// Gives whether a is regular.
template <class T>
bool factor_lu(const blas& library, std::int64_t n, T* a, std::int64_t* order);

/// b, of n rows, becomes the solution for a matrix that factor_lu has factored.
template <class T>
void solve_lu(const blas& library, std::int64_t n, const T* a, const std::int64_t* order,
              std::int64_t columns, T* b);

/// The lower triangle of a becomes L; above it nothing is read or written but within diagonal
/// blocks. Gives whether a is positive definite.
template <class T>
bool factor_cholesky(const blas& library, std::int64_t n, T* a);

}  // namespace quern::arrays::detail
