// SPDX-License-Identifier: BSL-1.0
// What is done with blocks: the four kernels of BOTS' sparselu (Duran et al., ICPP 2009). Shared by
// the application and by bench/sparselu. Compiled once, in kernels.cpp, so that all variants run
// the same instructions and their results can be compared bit by bit.
#pragma once

#include <cstddef>
#include <span>

namespace sparselu {

/// A block of a matrix, by rows without gaps.
struct block {
    float* first;
    std::size_t rows;
    std::size_t columns;

    float* row(std::size_t r) const { return first + r * columns; }
    float& operator()(std::size_t r, std::size_t c) const { return first[r * columns + c]; }
    std::span<float> numbers() const { return {first, rows * columns}; }
};

/// d = its factors L, whose diagonal is 1 and not stored, and U. Without pivoting.
void lu0(const block& d);

/// b = the inverse of the L in d times b; b is right of d.
void fwd(const block& d, const block& b);

/// b = b times the inverse of the U in d; b is below d.
void bdiv(const block& d, const block& b);

/// c -= a times b.
void bmod(const block& a, const block& b, const block& c);

}  // namespace sparselu
