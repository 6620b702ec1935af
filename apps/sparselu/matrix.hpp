// SPDX-License-Identifier: BSL-1.0
// The matrix of BOTS' sparselu: square blocks, of which many are zero and not stored; the
// factorisation fills some of them in. With the serial factorisation and the checks. Shared by the
// application and by bench/sparselu; must not include a runtime.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace sparselu {

class matrix {
public:
    /// The structure and the numbers of BOTS' genmat(), from -2 to 2; the diagonal is larger by 2
    /// n, so that there are factors without pivoting. n need not be a multiple of `side`.
    matrix(std::size_t n, std::size_t side)
        : m_n(n), m_side(side), m_blocks((n + side - 1) / side), m_stored(m_blocks * m_blocks) {
        std::uint32_t state = 1325;
        for (std::size_t i = 0; i < m_blocks; ++i) {
            for (std::size_t j = 0; j < m_blocks; ++j) {
                if (!is_zero_at_first(i, j)) {
                    fill(allocated(i, j), state);
                }
            }
            const block d = at(i, i);
            for (std::size_t r = 0; r < d.rows; ++r) {
                d(r, r) += 2 * static_cast<float>(n);
            }
        }
    }

    std::size_t size() const { return m_n; }
    std::size_t blocks() const { return m_blocks; }
    std::size_t first_row(std::size_t i) const { return i * m_side; }
    std::size_t rows_of(std::size_t i) const { return std::min(m_side, m_n - i * m_side); }
    bool has(std::size_t i, std::size_t j) const { return m_stored[index(i, j)] != nullptr; }

    /// Requires: has(i, j).
    block at(std::size_t i, std::size_t j) const {
        return {m_stored[index(i, j)].get(), rows_of(i), rows_of(j)};
    }

    /// The block, which is made, with zeros, if there is none.
    block allocated(std::size_t i, std::size_t j) {
        if (!has(i, j)) {
            m_stored[index(i, j)] = std::make_unique<float[]>(rows_of(i) * rows_of(j));
        }
        return at(i, j);
    }

    /// y = A x. `factored`: A is L U, stored in one.
    std::vector<double> times(const std::vector<double>& x, bool factored) const {
        if (!factored) {
            return product(x, [](std::size_t, std::size_t, float v) { return double{v}; });
        }
        const auto upper = [](std::size_t r, std::size_t c, float v) { return r <= c ? v : 0.0; };
        const auto lower = [](std::size_t r, std::size_t c, float v) {
            return r == c ? 1.0 : r > c ? v : 0.0;
        };
        return product(product(x, upper), lower);
    }

    /// The same blocks with the same bits.
    bool equals(const matrix& other) const {
        for (std::size_t i = 0; i < m_blocks; ++i) {
            for (std::size_t j = 0; j < m_blocks; ++j) {
                if (has(i, j) != other.has(i, j) ||
                    (has(i, j) && std::memcmp(at(i, j).first, other.at(i, j).first,
                                              at(i, j).numbers().size_bytes()) != 0)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    static bool is_zero_at_first(std::size_t i, std::size_t j) {
        if (i == j || i + 1 == j || j + 1 == i) {
            return false;
        }
        return i % 2 == 1 || j % 2 == 1 || (i < j && i % 3 != 0) || (i > j && j % 3 != 0);
    }

    static void fill(const block& b, std::uint32_t& state) {
        for (float& x : b.numbers()) {
            state = 3125 * state % 65536;
            x = static_cast<float>((state - 32768.0) / 16384.0);
        }
    }

    std::size_t index(std::size_t i, std::size_t j) const { return i * m_blocks + j; }

    template <class Element>
    std::vector<double> product(const std::vector<double>& x, Element element) const {
        std::vector<double> y(m_n, 0.0);
        for (std::size_t i = 0; i < m_blocks; ++i) {
            for (std::size_t j = 0; j < m_blocks; ++j) {
                for (std::size_t r = 0; has(i, j) && r < rows_of(i); ++r) {
                    for (std::size_t c = 0; c < rows_of(j); ++c) {
                        y[first_row(i) + r] +=
                            x[first_row(j) + c] *
                            element(first_row(i) + r, first_row(j) + c, at(i, j)(r, c));
                    }
                }
            }
        }
        return y;
    }

    std::size_t m_n;
    std::size_t m_side;
    std::size_t m_blocks;
    std::vector<std::unique_ptr<float[]>> m_stored;  ///< by row and column of blocks
};

/// How much a factorisation is.
struct amount {
    std::size_t tasks = 0;
    double flop = 0;
};

/// a = L U. Returns what was done.
inline amount factorise(matrix& a) {
    amount done;
    const auto count = [&done](std::size_t r, std::size_t k, std::size_t c, double products) {
        ++done.tasks;
        done.flop +=
            products * static_cast<double>(r) * static_cast<double>(k) * static_cast<double>(c);
    };
    for (std::size_t k = 0; k < a.blocks(); ++k) {
        lu0(a.at(k, k));
        count(a.rows_of(k), a.rows_of(k), a.rows_of(k), 2.0 / 3);
        for (std::size_t j = k + 1; j < a.blocks(); ++j) {
            if (a.has(k, j)) {
                fwd(a.at(k, k), a.at(k, j));
                count(a.rows_of(k), a.rows_of(k), a.rows_of(j), 1);
            }
        }
        for (std::size_t i = k + 1; i < a.blocks(); ++i) {
            if (!a.has(i, k)) {
                continue;
            }
            bdiv(a.at(k, k), a.at(i, k));
            count(a.rows_of(i), a.rows_of(k), a.rows_of(k), 1);
            for (std::size_t j = k + 1; j < a.blocks(); ++j) {
                if (a.has(k, j)) {
                    bmod(a.at(i, k), a.at(k, j), a.allocated(i, j));
                    count(a.rows_of(i), a.rows_of(k), a.rows_of(j), 2);
                }
            }
        }
    }
    return done;
}

/// |L (U x) - A x| / (|A| |x| n eps), the largest norms, for a vector x: below 1 or so for a
/// backward stable factorisation (Higham, Accuracy and Stability, 9.3). Not a number if the factors
/// are none.
inline double residual(const matrix& factors, const matrix& a) {
    std::vector<double> x(a.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = i % 3 == 0 ? 1.0 : i % 3 == 1 ? -0.75 : 0.5;
    }
    const std::vector<double> found = factors.times(x, true);
    const std::vector<double> expected = a.times(x, false);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = std::abs(found[i] - expected[i]);
        worst = error <= worst ? worst : error;  // not std::max, which drops what is not a number
    }
    const double norm = 4 * static_cast<double>(a.size());  // the diagonal, and a row of at most 2s
    constexpr double k_eps = std::numeric_limits<float>::epsilon();
    return worst / (norm * static_cast<double>(a.size()) * k_eps);
}

}  // namespace sparselu
