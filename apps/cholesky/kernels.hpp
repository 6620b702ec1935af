// SPDX-License-Identifier: BSL-1.0
// What is done with tiles: the four kernels of the factorisation, written by hand. A tile is stored
// by columns, so that the innermost loops go down a column and are vectorised.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace cholesky {

/// A tile of a matrix, by columns without gaps.
struct tile {
    std::span<double> numbers;
    std::size_t rows;
    std::size_t columns;

    double* column(std::size_t c) const { return numbers.data() + c * rows; }
    double& operator()(std::size_t r, std::size_t c) const { return numbers[c * rows + r]; }
};

/// The leading minor of that order is not positive, so there is no factor.
struct not_positive_definite : std::runtime_error {
    explicit not_positive_definite(std::size_t order)
        : std::runtime_error("the matrix is not positive definite: its leading minor of order " +
                             std::to_string(order) + " is not positive") {}
};

/// to[first, rows) -= the columns [0, n) of `a` times the numbers `by`, `step` apart. Four columns
/// at a time: each element of `to` is loaded and stored once for four products.
inline void subtract_columns(double* to, const tile& a, std::size_t n, const double* by,
                             std::size_t step, std::size_t first) {
    std::size_t x = 0;
    for (; x + 4 <= n; x += 4) {
        const double* const a0 = a.column(x);
        const double* const a1 = a.column(x + 1);
        const double* const a2 = a.column(x + 2);
        const double* const a3 = a.column(x + 3);
        const double b0 = by[x * step];
        const double b1 = by[(x + 1) * step];
        const double b2 = by[(x + 2) * step];
        const double b3 = by[(x + 3) * step];
        for (std::size_t r = first; r < a.rows; ++r) {
            to[r] -= a0[r] * b0 + a1[r] * b1 + (a2[r] * b2 + a3[r] * b3);
        }
    }
    for (; x < n; ++x) {
        const double* const a0 = a.column(x);
        const double b0 = by[x * step];
        for (std::size_t r = first; r < a.rows; ++r) {
            to[r] -= a0[r] * b0;
        }
    }
}

/// a = the factor of its lower triangle. `before`: rows of the matrix above the tile.
inline void potrf(const tile& a, std::size_t before) {
    for (std::size_t c = 0; c < a.columns; ++c) {
        double* const column = a.column(c);
        subtract_columns(column, a, c, &a.numbers[c], a.rows, c);
        if (!(column[c] > 0)) {
            throw not_positive_definite(before + c + 1);
        }
        const double root = std::sqrt(column[c]);
        for (std::size_t r = c; r < a.rows; ++r) {
            column[r] /= root;
        }
    }
}

/// a = a times the inverse of the transposed l.
inline void trsm(const tile& l, const tile& a) {
    for (std::size_t c = 0; c < a.columns; ++c) {
        double* const column = a.column(c);
        subtract_columns(column, a, c, &l.numbers[c], l.rows, 0);
        for (std::size_t r = 0; r < a.rows; ++r) {
            column[r] /= l(c, c);
        }
    }
}

/// The lower triangle of c -= that of a times the transposed a.
inline void syrk(const tile& a, const tile& c) {
    for (std::size_t column = 0; column < c.columns; ++column) {
        subtract_columns(c.column(column), a, a.columns, &a.numbers[column], a.rows, column);
    }
}

/// c -= a times the transposed b.
inline void gemm(const tile& a, const tile& b, const tile& c) {
    for (std::size_t column = 0; column < c.columns; ++column) {
        subtract_columns(c.column(column), a, a.columns, &b.numbers[column], b.rows, 0);
    }
}

}  // namespace cholesky
