// SPDX-License-Identifier: BSL-1.0
// qr: A = Q R by square tiles (Buttari, Langou, Kurzak, Dongarra 2009), a task for each call of a
// kernel of LAPACK. Size: the rows of the matrix. The serial program is LAPACK's function for the
// whole matrix, which works by columns and needs fewer operations.
#pragma once

#include "../dense/dense.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::qr {

inline constexpr dense::titles k_titles{"qr_64", "qr_128", "qr_256", "qr_512"};

/// A, which becomes R and the reflections of two tiles; the reflections of diagonal tiles; and the
/// triangular factors of the blocks of all of them.
class problem {
public:
    problem(long n, long tile)
        : a(n, tile, tile),
          m_tile(a.at(0, 0).rows),
          m_vectors(static_cast<std::size_t>(tiles() * m_tile * m_tile)),
          m_factors(static_cast<std::size_t>(tiles() * tiles() * k_inner * m_tile)) {}

    long tiles() const { return a.rows(); }
    /// The reflections of the diagonal tile k, and the factors of tile (i, k).
    blas::matrix vectors(long k) {
        const int side = a.at(k, k).rows;
        return {&m_vectors[static_cast<std::size_t>(k * m_tile * m_tile)], side, side, side};
    }
    blas::matrix factors(long i, long k) {
        const int width = a.at(i, k).columns;
        const auto place = static_cast<std::size_t>((k * tiles() + i) * k_inner * m_tile);
        return {&m_factors[place], std::min(k_inner, width), width, k_inner};
    }

    void geqrt(long k) {
        const blas::matrix from = a.at(k, k);
        blas::geqrt(from, factors(k, k));
        std::copy_n(from.at,
                    static_cast<std::size_t>(from.rows) * static_cast<std::size_t>(from.columns),
                    vectors(k).at);
    }
    void unmqr(long k, long j) { blas::gemqrt('T', vectors(k), factors(k, k), a.at(k, j)); }
    void tsqrt(long k, long i) { blas::tpqrt(a.at(k, k), a.at(i, k), factors(i, k)); }
    void tsmqr(long k, long i, long j) {
        blas::tpmqrt('T', a.at(i, k), factors(i, k), a.at(k, j), a.at(i, j));
    }

    void fill() {
        a.for_each([](std::size_t r, std::size_t c, double& x) { x = dense::element(r, c); });
    }

    /// |R' R x - A' A x|: of R alone, whatever the reflections are.
    void check() {
        const dense::numbers x = dense::some_vector(a.size());
        dense::numbers y(x.size()), z(x.size()), of_a(x.size());
        a.for_each([&](std::size_t r, std::size_t c, double u) { y[r] += r <= c ? u * x[c] : 0; });
        a.for_each([&](std::size_t r, std::size_t c, double u) { z[c] += r <= c ? u * y[r] : 0; });
        double norm = dense::subtract_product(dense::element, x, of_a);
        const auto transposed = [](std::size_t r, std::size_t c) { return dense::element(c, r); };
        for (double& each : of_a) {
            each = -each;
        }
        norm *= dense::subtract_product(transposed, of_a, z);
        dense::expect_small(z, norm);
    }

    dense::tiled a;

private:
    static constexpr int k_inner = 32;  // columns of a block of reflections, as in PLASMA

    long m_tile;
    dense::numbers m_vectors;
    dense::numbers m_factors;
};

/// How urgent a task of step k of n is, from `within`: 3 for geqrt and tsqrt, 2 for tsmqr of the
/// next column, 1 for unmqr, 0 for the others.
inline int rank(long n, long k, int within) { return static_cast<int>(n - k) + within; }

}  // namespace bench::qr
