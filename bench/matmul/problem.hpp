// SPDX-License-Identifier: BSL-1.0
// matmul: C = A B by recursion on quarters: four products in parallel, then, because they add to
// the same quarters, the four others. Blocks of 32 are multiplied by three loops. Size: the number
// of rows, a power of two.
#pragma once

#include "../tasks/tasks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

namespace bench::matmul {

/// A square part of a matrix in row order.
template <class Number>
struct part {
    Number* first;
    long size;
    long row;  ///< from one row to the next

    part quarter(int down, int right) const noexcept {
        const long half = size / 2;
        return {first + down * half * row + right * half, half, row};
    }
};

inline constexpr long k_block = 32;  // rows; about 5 us

/// C += A B for blocks, a row of C in registers. Not inlined: the same machine code for every
/// runtime of a compiler.
[[gnu::noinline]] inline void multiply_block(part<double> c, part<const double> a,
                                             part<const double> b) {
    for (long i = 0; i < k_block; ++i) {
        double* to = c.first + i * c.row;
        double sums[k_block];
        std::copy(to, to + k_block, sums);
        for (long k = 0; k < k_block; ++k) {
            const double factor = a.first[i * a.row + k];
            const double* from = b.first + k * b.row;
            for (long j = 0; j < k_block; ++j) {
                sums[j] += factor * from[j];
            }
        }
        std::copy(sums, sums + k_block, to);
    }
}

template <class Tasks>
inline void multiply(Tasks here, part<double> c, part<const double> a, part<const double> b) {
    if (c.size == k_block) {
        multiply_block(c, a, b);
        return;
    }
    for (int k = 0; k < 2; ++k) {
        const auto quarter = [&c, &a, &b, k](int i, int j) {
            return [&c, &a, &b, i, j, k](auto there) {
                multiply(there, c.quarter(i, j), a.quarter(i, k), b.quarter(k, j));
            };
        };
        here.all(quarter(0, 0), quarter(0, 1), quarter(1, 0), quarter(1, 1));
    }
}

class problem {
public:
    explicit problem(long n) : m_n(n), m_a(numbers(-8, 8)), m_b(numbers(-8, 8)), m_c(m_a.size()) {
        if (n < k_block || !std::has_single_bit(static_cast<unsigned long>(n))) {
            throw std::invalid_argument("matmul: the size is no power of two from 32 on");
        }
    }

    template <class Tasks>
    bool solve(Tasks here) {
        multiply(here, part<double>{m_c.data(), m_n, m_n}, whole(m_a), whole(m_b));
        return true;
    }

    /// Checks C x = A (B x) for a vector of large random numbers (Freivalds 1977); all are integers
    /// and small enough for sums without rounding. Then clears C for the next run.
    void check(bool) {
        std::vector<double> x(m_c.begin(), m_c.begin() + m_n);
        std::generate(x.begin(), x.end(),
                      [this] { return std::uniform_int_distribution(0, 1 << 20)(m_random); });
        const std::vector<double> found = times(m_c, x);
        const std::vector<double> right = times(m_a, times(m_b, x));
        for (std::size_t i = 0; i < found.size(); ++i) {
            expect_equal("a row of C x", found[i], right[i]);
        }
        std::fill(m_c.begin(), m_c.end(), 0.0);
    }

private:
    using matrix = std::vector<double>;

    matrix numbers(int least, int most) {
        matrix m(static_cast<std::size_t>(m_n * m_n));
        std::uniform_int_distribution<int> whole_number(least, most);
        std::generate(m.begin(), m.end(), [&] { return whole_number(m_random); });
        return m;
    }

    part<const double> whole(const matrix& m) const { return {m.data(), m_n, m_n}; }

    std::vector<double> times(const matrix& m, const std::vector<double>& x) const {
        std::vector<double> y(x.size());
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] =
                std::inner_product(x.begin(), x.end(), m.begin() + static_cast<long>(i) * m_n, 0.0);
        }
        return y;
    }

    std::mt19937 m_random{1};
    long m_n;
    matrix m_a, m_b, m_c;
};

}  // namespace bench::matmul
