// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

#include <algorithm>
#include <cmath>

namespace jacobi {

namespace {

/// The first row.
void sweep_row(const double* from, double* to, const shape& of) {
    const double* const above = from - of.pitch;
    const double* const below = from + of.pitch;
    for (std::size_t c = 0; c < of.columns; ++c) {
        to[c] = (above[c] + below[c] + from[c + 1] + *(from + c - 1)) * 0.25;
    }
}

}  // namespace

void sweep(const double* from, double* to, const shape& of) {
    for (std::size_t r = 0; r < of.rows; ++r, from += of.pitch, to += of.pitch) {
        sweep_row(from, to, of);
    }
}

double sweep_and_compare(const double* from, double* to, const shape& of) {
    double change = 0;
    for (std::size_t r = 0; r < of.rows; ++r, from += of.pitch, to += of.pitch) {
        sweep_row(from, to, of);
        for (std::size_t c = 0; c < of.columns; ++c) {
            change = std::max(change, std::abs(to[c] - from[c]));
        }
    }
    return change;
}

}  // namespace jacobi
