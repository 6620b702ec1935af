// SPDX-License-Identifier: BSL-1.0
// Shared by cholesky, lu and qr: matrices in tiles, their numbers, and runs that are filled and
// checked outside of the time that counts. Must not include anything of a runtime.
#pragma once

#include "../../apps/common/blas.hpp"
#include "../harness/harness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace bench::dense {

using numbers = std::vector<double>;

/// A square matrix in tiles, each by columns without gaps.
class tiled {
public:
    tiled(long n, long height, long width)
        : m_n(n),
          m_height(std::min(height, n)),
          m_width(std::min(width, n)),
          m_rows((n + m_height - 1) / m_height),
          m_columns((n + m_width - 1) / m_width),
          m_numbers(static_cast<std::size_t>(m_rows * m_columns * m_height * m_width)) {}

    long size() const { return m_n; }
    long rows() const { return m_rows; }  ///< of tiles
    long columns() const { return m_columns; }
    long first_row(long i) const { return i * m_height; }
    long first_column(long j) const { return j * m_width; }
    blas::matrix at(long i, long j) {
        const long height = std::min(m_height, m_n - first_row(i));
        const long width = std::min(m_width, m_n - first_column(j));
        return {&m_numbers[static_cast<std::size_t>((j * m_rows + i) * m_height * m_width)],
                static_cast<int>(height), static_cast<int>(width), static_cast<int>(height)};
    }

    /// f(row, column, number) for each of them.
    template <class F>
    void for_each(F f) {
        for (long j = 0; j < m_columns; ++j) {
            for (long i = 0; i < m_rows; ++i) {
                const blas::matrix t = at(i, j);
                for (int c = 0; c < t.columns; ++c) {
                    for (int r = 0; r < t.rows; ++r) {
                        f(static_cast<std::size_t>(first_row(i) + r),
                          static_cast<std::size_t>(first_column(j) + c), t(r, c));
                    }
                }
            }
        }
    }

private:
    long m_n, m_height, m_width, m_rows, m_columns;
    numbers m_numbers;
};

/// From -0.5 to 0.5.
inline double element(std::size_t r, std::size_t c) {
    std::uint64_t z = (std::uint64_t{r} << 32) + c;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    constexpr double k_scale = 1.0 / 9007199254740992.0;  // 2^-53
    return static_cast<double>(z >> 11) * k_scale - 0.5;
}

inline numbers some_vector(long n) {
    numbers x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = 2 * element(i, x.size());
    }
    return x;
}

/// y -= A x for the matrix A of a(row, column). Returns the largest sum of a row of |A|.
template <class A>
double subtract_product(const A& a, const numbers& x, numbers& y) {
    double norm = 0;
    for (std::size_t r = 0; r < x.size(); ++r) {
        double sum = 0;
        for (std::size_t c = 0; c < x.size(); ++c) {
            const double number = a(r, c);
            y[r] -= number * x[c];
            sum += std::abs(number);
        }
        norm = std::max(norm, sum);
    }
    return norm;
}

/// Throws wrong_answer unless the largest of `difference`, / (norm n eps), is as of a backward
/// stable factorisation (LAPACK's tests: at most 30). |x| is about 1.
inline void expect_small(const numbers& difference, double norm) {
    double worst = 0;
    for (const double each : difference) {
        worst = std::abs(each) <= worst ? worst : std::abs(each);
    }
    constexpr double k_most = 30;
    constexpr double k_eps = std::numeric_limits<double>::epsilon();
    const double residual = worst / (norm * static_cast<double>(difference.size()) * k_eps);
    if (!(residual <= k_most)) {
        throw wrong_answer("the residual is " + std::to_string(residual));
    }
}

/// A repetition: `problem` has fill() and check(); f() works on it.
template <class Problem, class F>
measurement measured(Problem& problem, F&& f) {
    return timed_runs([&] {
        problem.fill();
        const double start = now();
        f();
        const double seconds = now() - start;
        problem.check();
        return seconds;
    });
}

/// The problems of one factorisation, for tiles of 64, 128, 256 and 512.
inline constexpr std::array<long, 4> k_tiles{64, 128, 256, 512};
using titles = std::array<const char*, k_tiles.size()>;

/// Adds a contender to each; make(arguments, tile) returns its job.
class with_tiles {
public:
    with_tiles(const titles& problems, const std::string& variant,
               const std::function<job(const arguments&, long)>& make) {
        for (std::size_t i = 0; i < k_tiles.size(); ++i) {
            m_all.emplace_back(problems[i], variant, [make, tile = k_tiles[i]](const arguments& a) {
                blas::use_calling_thread();
                return make(a, tile);
            });
        }
    }

private:
    std::vector<contender> m_all;
};

}  // namespace bench::dense
