// SPDX-License-Identifier: BSL-1.0
// The loops are in an order that makes the innermost one go along rows, which compilers vectorise.
#include "kernels.hpp"

namespace sparselu {

namespace {

/// to[first, n) -= factor * row[first, n).
void subtract_row(float* __restrict to, const float* __restrict row, float factor,
                  std::size_t first, std::size_t n) {
    for (std::size_t c = first; c < n; ++c) {
        to[c] -= factor * row[c];
    }
}

}  // namespace

void lu0(const block& d) {
    for (std::size_t k = 0; k < d.rows; ++k) {
        for (std::size_t i = k + 1; i < d.rows; ++i) {
            d(i, k) /= d(k, k);
            subtract_row(d.row(i), d.row(k), d(i, k), k + 1, d.columns);
        }
    }
}

void fwd(const block& d, const block& b) {
    for (std::size_t k = 0; k < d.rows; ++k) {
        for (std::size_t i = k + 1; i < d.rows; ++i) {
            subtract_row(b.row(i), b.row(k), d(i, k), 0, b.columns);
        }
    }
}

void bdiv(const block& d, const block& b) {
    for (std::size_t i = 0; i < b.rows; ++i) {
        for (std::size_t k = 0; k < b.columns; ++k) {
            b(i, k) /= d(k, k);
            subtract_row(b.row(i), d.row(k), b(i, k), k + 1, b.columns);
        }
    }
}

/// Four rows of b at a time: a number of c is loaded and stored once for four
/// products.
void bmod(const block& a, const block& b, const block& c) {
    for (std::size_t i = 0; i < c.rows; ++i) {
        float* const __restrict to = c.row(i);
        std::size_t k = 0;
        for (; k + 4 <= b.rows; k += 4) {
            const float* const __restrict b0 = b.row(k);
            const float* const __restrict b1 = b.row(k + 1);
            const float* const __restrict b2 = b.row(k + 2);
            const float* const __restrict b3 = b.row(k + 3);
            const float* const f = a.row(i) + k;
            for (std::size_t j = 0; j < c.columns; ++j) {
                to[j] = to[j] - f[0] * b0[j] - f[1] * b1[j] - f[2] * b2[j] - f[3] * b3[j];
            }
        }
        for (; k < b.rows; ++k) {
            subtract_row(to, b.row(k), a(i, k), 0, c.columns);
        }
    }
}

}  // namespace sparselu
