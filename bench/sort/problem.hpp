// SPDX-License-Identifier: BSL-1.0
// sort: merge sort of random doubles; the halves are sorted in parallel, and so are the halves of a
// merge. Small ranges use the standard library. Size: the number of doubles.
#pragma once

#include "../tasks/tasks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

namespace bench::sort {

/// Merges the sorted ranges [a, a_end) and [b, b_end) into one from `out` on.
template <class Tasks>
inline void merge(Tasks here, const double* a, const double* a_end, const double* b,
                  const double* b_end, double* out) {
    constexpr long k_small = 8192;  // about 20 us
    if (a_end - a < b_end - b) {
        std::swap(a, b);
        std::swap(a_end, b_end);
    }
    if (a_end - a <= k_small) {
        std::merge(a, a_end, b, b_end, out);
        return;
    }
    const double* a_middle = a + (a_end - a) / 2;
    const double* b_middle = std::lower_bound(b, b_end, *a_middle);
    double* out_middle = out + (a_middle - a) + (b_middle - b);
    here.all([=](auto there) { merge(there, a, a_middle, b, b_middle, out); },
             [=](auto there) { merge(there, a_middle, a_end, b_middle, b_end, out_middle); });
}

/// Sorts the numbers at `at`, into `at` or `other`; both places are written.
template <class Tasks>
inline void sort(Tasks here, double* at, double* other, long n, bool to_other) {
    constexpr long k_small = 2048;  // about 100 us
    if (n <= k_small) {
        std::sort(at, at + n);
        if (to_other) {
            std::copy(at, at + n, other);
        }
        return;
    }
    const long half = n / 2;
    here.all([=](auto there) { sort(there, at, other, half, !to_other); },
             [=](auto there) { sort(there, at + half, other + half, n - half, !to_other); });
    const double* from = to_other ? at : other;
    merge(here, from, from + half, from + half, from + n, to_other ? other : at);
}

class problem {
public:
    explicit problem(long n) : m_numbers(static_cast<std::size_t>(n)), m_other(m_numbers.size()) {
        shuffle();
    }

    template <class Tasks>
    bool solve(Tasks here) {
        sort(here, m_numbers.data(), m_other.data(), static_cast<long>(m_numbers.size()), false);
        return true;
    }

    std::vector<double>& numbers() noexcept { return m_numbers; }

    /// Checks the order, and that the numbers are the same as before. Then makes new numbers for
    /// the next run.
    void check(bool) {
        expect_equal("in order", std::is_sorted(m_numbers.begin(), m_numbers.end()), true);
        expect_equal("the sum of all bits", sum(), m_sum);
        shuffle();
    }

private:
    void shuffle() {
        std::uniform_real_distribution<double> number(0, 1);
        std::generate(m_numbers.begin(), m_numbers.end(), [&] { return number(m_random); });
        m_sum = sum();
    }

    /// Of hashed bits, so that two changes do not cancel out.
    std::uint64_t sum() const {
        std::uint64_t total = 0;
        for (const double number : m_numbers) {
            const auto bits = std::bit_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U;
            total += bits ^ (bits >> 29);
        }
        return total;
    }

    std::mt19937_64 m_random{1};
    std::vector<double> m_numbers, m_other;
    std::uint64_t m_sum = 0;
};

}  // namespace bench::sort
