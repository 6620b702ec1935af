// SPDX-License-Identifier: BSL-1.0
// A symmetric matrix whose lower triangle is stored tile by tile, and the check of its factor.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cholesky {

class matrix {
public:
    matrix(std::size_t n, std::size_t side)
        : m_n(n), m_side(side), m_tiles((n + side - 1) / side), m_begin(m_tiles * m_tiles) {
        std::size_t total = 0;
        for (std::size_t i = 0; i < m_tiles; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                m_begin[i * m_tiles + j] = total;
                total += rows_of(i) * rows_of(j);
            }
        }
        m_numbers.resize(total);
    }

    std::size_t size() const { return m_n; }
    std::size_t tiles() const { return m_tiles; }
    std::size_t first_row(std::size_t i) const { return i * m_side; }

    /// Requires: j <= i.
    tile at(std::size_t i, std::size_t j) {
        return {{m_numbers.data() + m_begin[i * m_tiles + j], rows_of(i) * rows_of(j)},
                rows_of(i),
                rows_of(j)};
    }

    /// The number in row r and column c of the matrix that is factorised: from -0.5 to 0.5, beside
    /// the diagonal; there `diagonal` more.
    static double element(std::size_t r, std::size_t c, double diagonal) {
        std::uint64_t z = (std::uint64_t{std::max(r, c)} << 32) + std::min(r, c);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        z ^= z >> 31;
        constexpr double k_scale = 1.0 / 9007199254740992.0;  // 2^-53
        return static_cast<double>(z >> 11) * k_scale - 0.5 + (r == c ? diagonal : 0);
    }

    void fill(double diagonal) {
        for_each_element(
            [&](std::size_t r, std::size_t c, double& x) { x = element(r, c, diagonal); });
    }

    /// |L (L' x) - A x| / (|A| |x| n eps), the largest norms, for a vector x: below 1 or so for a
    /// backward stable factorisation (Higham, Accuracy and Stability, 10.1).
    double residual(double diagonal) {
        const std::vector<double> x = some_vector();
        std::vector<double> y(m_n, 0.0);  // L' x
        for_each_element(
            [&](std::size_t r, std::size_t c, const double& l) { y[c] += r >= c ? l * x[r] : 0; });
        std::vector<double> z(m_n, 0.0);  // L y - A x
        for_each_element(
            [&](std::size_t r, std::size_t c, const double& l) { z[r] += r >= c ? l * y[c] : 0; });
        double norm = 0;
        for (std::size_t r = 0; r < m_n; ++r) {
            double sum = 0;
            for (std::size_t c = 0; c < m_n; ++c) {
                const double a = element(r, c, diagonal);
                z[r] -= a * x[c];
                sum += std::abs(a);
            }
            norm = std::max(norm, sum);
        }
        double worst = 0;
        for (const double each : z) {
            // Not std::max, which drops what is not a number.
            worst = std::abs(each) <= worst ? worst : std::abs(each);
        }
        constexpr double k_eps = std::numeric_limits<double>::epsilon();
        return worst / (norm * static_cast<double>(m_n) * k_eps);  // |x| is 1
    }

private:
    std::size_t rows_of(std::size_t i) const { return std::min(m_side, m_n - i * m_side); }

    template <class F>
    void for_each_element(F f) {
        for (std::size_t i = 0; i < m_tiles; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                const tile t = at(i, j);
                for (std::size_t c = 0; c < t.columns; ++c) {
                    for (std::size_t r = 0; r < t.rows; ++r) {
                        f(first_row(i) + r, first_row(j) + c, t(r, c));
                    }
                }
            }
        }
    }

    std::vector<double> some_vector() const {
        std::vector<double> x(m_n);
        for (std::size_t i = 0; i < m_n; ++i) {
            x[i] = 2 * element(i, m_n, 0);
        }
        x[0] = 1;
        return x;
    }

    std::size_t m_n;
    std::size_t m_side;
    std::size_t m_tiles;
    std::vector<std::size_t> m_begin;
    std::vector<double> m_numbers;
};

}  // namespace cholesky
