// SPDX-License-Identifier: BSL-1.0
// lu: P A = L U with partial pivoting by panels of columns. Size: the rows of the matrix. The
// serial program is LAPACK's function for the whole matrix.
#pragma once

#include "../dense/dense.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace bench::lu {

inline constexpr dense::titles k_titles{"lu_64", "lu_128", "lu_256", "lu_512"};

/// Panels, and the row that each step exchanges with its own: counted from 1, and from the first
/// row of the panel's part of the diagonal.
class problem {
public:
    problem(long n, long width) : a(n, n, width), pivots(static_cast<std::size_t>(n)) {}

    long panels() const { return a.columns(); }
    /// Of the panel j, the rows from those of the diagonal in panel k.
    blas::matrix below(long k, long j) {
        const blas::matrix whole = a.at(0, j);
        const int above = static_cast<int>(a.first_column(k));
        return whole.from(above, 0, whole.rows - above, whole.columns);
    }
    int* pivots_of(long k) { return &pivots[static_cast<std::size_t>(a.first_column(k))]; }

    void factorise_panel(long k) {
        if (blas::getrf(below(k, k), pivots_of(k)) != 0) {
            throw wrong_answer("the matrix is singular");
        }
    }

    /// Panel j, when panel k has been factorised.
    void update(long k, long j) {
        const blas::matrix from = below(k, k);
        const blas::matrix to = below(k, j);
        blas::swap_rows(to, pivots_of(k), from.columns);
        const blas::matrix upper = to.from(0, 0, from.columns, to.columns);
        blas::trsm_left(from, upper);
        const int left = from.rows - from.columns;
        if (left > 0) {
            blas::gemm('N', 'N', -1, from.from(from.columns, 0, left, from.columns), upper, 1,
                       to.from(from.columns, 0, left, to.columns));
        }
    }

    /// The exchanges of later steps, in panel j, which is L.
    void swap_later(long j) {
        for (long k = j + 1; k < panels(); ++k) {
            blas::swap_rows(below(k, j), pivots_of(k), a.at(0, k).columns);
        }
    }

    void fill() {
        a.for_each([](std::size_t r, std::size_t c, double& x) { x = dense::element(r, c); });
    }

    /// |P' L U x - A x|
    void check() {
        const dense::numbers x = dense::some_vector(a.size());
        dense::numbers y(x.size());
        a.for_each([&](std::size_t r, std::size_t c, double u) { y[r] += r <= c ? u * x[c] : 0; });
        dense::numbers z = y;
        a.for_each([&](std::size_t r, std::size_t c, double l) { z[r] += r > c ? l * y[c] : 0; });
        for (long k = panels(); k-- > 0;) {
            const auto first = static_cast<std::size_t>(a.first_column(k));
            for (int i = a.at(0, k).columns; i-- > 0;) {
                std::swap(z[first + static_cast<std::size_t>(i)],
                          z[first + static_cast<std::size_t>(pivots_of(k)[i]) - 1]);
            }
        }
        dense::expect_small(z, dense::subtract_product(dense::element, x, z));
    }

    dense::tiled a;
    std::vector<int> pivots;
};

}  // namespace bench::lu
