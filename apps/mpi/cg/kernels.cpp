// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

namespace cg {

double multiply(const double* p, double* q, std::size_t rows, std::size_t columns) {
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r, p += columns, q += columns) {
        const double* const above = p - columns;
        const double* const below = p + columns;
        for (std::size_t c = 0; c < columns; ++c) {
            const double left = c > 0 ? p[c - 1] : 0;
            const double right = c + 1 < columns ? p[c + 1] : 0;
            q[c] = 4 * p[c] - above[c] - below[c] - left - right;
            sum += p[c] * q[c];
        }
    }
    return sum;
}

double advance(double alpha, const double* p, const double* q, double* x, double* r,
               std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

void turn(double beta, const double* r, double* p, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        p[i] = r[i] + beta * p[i];
    }
}

}  // namespace cg
