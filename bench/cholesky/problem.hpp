// SPDX-License-Identifier: BSL-1.0
// cholesky: A = L L' by square tiles, a task for each call of a kernel of LAPACK or BLAS. Size: the
// rows of the matrix. Tiles below a diagonal tile are multiplied with the inverse of its factor:
// OpenBLAS's trmm is up to three times as fast as its trsm. The serial program is LAPACK's function
// for the whole matrix.
#pragma once

#include "../dense/dense.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::cholesky {

inline constexpr dense::titles k_titles{"cholesky_64", "cholesky_128", "cholesky_256",
                                        "cholesky_512"};

inline void factor_of(const blas::matrix& a) {
    if (blas::potrf(a) != 0) {
        throw wrong_answer("the matrix is not positive definite");
    }
}
/// inverse = that of the factor l.
inline void invert(const blas::matrix& l, const blas::matrix& inverse) {
    std::copy_n(l.at, static_cast<std::size_t>(l.rows) * static_cast<std::size_t>(l.columns),
                inverse.at);
    blas::invert_lower(inverse);
}

class problem {
public:
    problem(long n, long tile)
        : a(n, tile, tile),
          m_inverses(static_cast<std::size_t>(a.rows() * a.at(0, 0).rows * a.at(0, 0).rows)) {}

    /// Where the inverse of the diagonal tile k is. The tiles below are multiplied with it, which
    /// is faster than solving with the tile.
    blas::matrix inverse(long k) {
        const int side = a.at(0, 0).rows;
        const int rows = a.at(k, k).rows;
        return {&m_inverses[static_cast<std::size_t>(k * side * side)], rows, rows, rows};
    }

    void fill() {
        a.for_each([this](std::size_t r, std::size_t c, double& x) { x = element(r, c); });
    }

    /// |L L' x - A x|
    void check() {
        const dense::numbers x = dense::some_vector(a.size());
        dense::numbers y(x.size()), z(x.size());
        a.for_each([&](std::size_t r, std::size_t c, double l) { y[c] += r >= c ? l * x[r] : 0; });
        a.for_each([&](std::size_t r, std::size_t c, double l) { z[r] += r >= c ? l * y[c] : 0; });
        const double norm = dense::subtract_product(
            [this](std::size_t r, std::size_t c) { return element(r, c); }, x, z);
        dense::expect_small(z, norm);
    }

    /// Of step k: its diagonal tile, and what the tiles below it need.
    void factorise_diagonal(long k) {
        factor_of(a.at(k, k));
        if (k + 1 < a.rows()) {
            invert(a.at(k, k), inverse(k));
        }
    }

    dense::tiled a;

private:
    double element(std::size_t r, std::size_t c) const {
        return dense::element(std::max(r, c), std::min(r, c)) +
               (r == c ? static_cast<double>(a.size()) : 0);
    }

    dense::numbers m_inverses;
};

inline void subtract(const blas::matrix& ik, const blas::matrix& jk, const blas::matrix& ij) {
    blas::gemm('N', 'T', -1, ik, jk, 1, ij);
}

/// How urgent a task of step k of n is, from `within`: 3 for potrf, 2 trsm, 1 syrk, 0 gemm.
inline int rank(long n, long k, int within) { return static_cast<int>(n - k) + within; }

}  // namespace bench::cholesky
