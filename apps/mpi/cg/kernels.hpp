// SPDX-License-Identifier: BSL-1.0
// The operations of conjugate gradients on some rows of a square of points. Compiled once, in
// kernels.cpp, so that all variants run the same instructions.
#pragma once

#include <cstddef>

namespace cg {

/// q = A p for the 5-point Laplacian, with zeros left and right of the rows. p is also read one row
/// above and below. Returns the scalar product of p and q.
double multiply(const double* p, double* q, std::size_t rows, std::size_t columns);

/// x += alpha p; r -= alpha q. Returns the scalar product of r with itself.
double advance(double alpha, const double* p, const double* q, double* x, double* r, std::size_t n);

/// p = r + beta p
void turn(double beta, const double* r, double* p, std::size_t n);

}  // namespace cg
