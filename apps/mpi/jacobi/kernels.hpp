// SPDX-License-Identifier: BSL-1.0
// A Jacobi step over some rows and columns. Compiled once, in kernels.cpp, so that all variants run
// the same instructions.
#pragma once

#include <cstddef>

namespace jacobi {

/// Rows and columns of points, and the distance from a row to the next one, of both arrays.
struct shape {
    std::size_t rows;
    std::size_t columns;
    std::ptrdiff_t pitch;
};

/// Each point of `to` becomes the mean of the four neighbours in `from`, one row and one column
/// beyond all edges.
void sweep(const double* from, double* to, const shape& of);

/// The same, and returns the largest change of a point.
double sweep_and_compare(const double* from, double* to, const shape& of);

}  // namespace jacobi
