// SPDX-License-Identifier: BSL-1.0
// gemm: C = A B, a task for each tile of C, which reads the rows of A and the columns of B that it
// needs. Size: the rows of the matrices. The serial program is one call of dgemm.
#pragma once

#include "../dense/dense.hpp"

#include <cmath>
#include <cstddef>

namespace bench::gemm {

inline constexpr dense::titles k_titles{"gemm_64", "gemm_128", "gemm_256", "gemm_512"};

/// A in panels of rows, B in panels of columns, C in square tiles: all contiguous.
class problem {
public:
    problem(long n, long tile) : a(n, tile, n), b(n, n, tile), c(n, tile, tile) {
        a.for_each([](std::size_t r, std::size_t k, double& x) { x = dense::element(r, k); });
        b.for_each([](std::size_t r, std::size_t k, double& x) { x = dense::element(k, r); });
    }

    long tiles() const { return c.rows(); }
    void multiply(long i, long j) {
        blas::gemm('N', 'N', 1, a.at(i, 0), b.at(0, j), 0, c.at(i, j));
    }

    void fill() {
        c.for_each([](std::size_t, std::size_t, double& x) { x = std::nan(""); });
    }

    /// |C x - A (B x)| (Freivalds 1977)
    void check() {
        const dense::numbers x = dense::some_vector(c.size());
        dense::numbers y(x.size()), z(x.size());
        b.for_each([&](std::size_t r, std::size_t k, double v) { y[r] += v * x[k]; });
        c.for_each([&](std::size_t r, std::size_t k, double v) { z[r] += v * x[k]; });
        const double norm = dense::subtract_product(dense::element, y, z);
        dense::expect_small(z, norm * static_cast<double>(c.size()));  // |B| is less than that
    }

    dense::tiled a, b, c;
};

}  // namespace bench::gemm
