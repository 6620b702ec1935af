// SPDX-License-Identifier: BSL-1.0
// Products by loops of our own.
#pragma once

#include "blas/multiply.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace quern::arrays::detail {

/// sum + a * b: modulo 2^n for integers, as NumPy's.
template <class T>
T plus_product(T sum, T a, T b) noexcept {
    if constexpr (std::is_same_v<T, bool>) {
        return sum || (a && b);
    } else if constexpr (std::is_integral_v<T>) {
        using bits = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<bits>(sum) + static_cast<bits>(a) * static_cast<bits>(b));
    } else {
        return sum + a * b;
    }
}

template <class T>
const T& element_of(const matrix_view<T>& m, std::int64_t row, std::int64_t column) noexcept {
    return m.by_columns ? m.first[column * m.leading + row] : m.first[row * m.leading + column];
}

/// Rows of c, which are `width` elements apart: c = a b. Blocks of b stay in the cache.
template <class T>
void plain_product(const matrix_view<T>& a, const matrix_view<T>& b, T* c, std::int64_t width) {
    constexpr std::int64_t k_inner = 64;
    constexpr std::int64_t k_columns = 256;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::fill_n(c + i * width, b.columns, T{});
    }
    for (std::int64_t l0 = 0; l0 < a.columns; l0 += k_inner) {
        const std::int64_t l_end = std::min(l0 + k_inner, a.columns);
        for (std::int64_t j0 = 0; j0 < b.columns; j0 += k_columns) {
            const std::int64_t j_end = std::min(j0 + k_columns, b.columns);
            for (std::int64_t i = 0; i < a.rows; ++i) {
                T* const row = c + i * width;
                for (std::int64_t l = l0; l < l_end; ++l) {
                    const T x = element_of(a, i, l);
                    for (std::int64_t j = j0; j < j_end; ++j) {
                        row[j] = plus_product(row[j], x, element_of(b, l, j));
                    }
                }
            }
        }
    }
}

template <class T>
T plain_inner_product(const vector_view<T>& a, const vector_view<T>& b) noexcept {
    T sum{};
    for (std::int64_t i = 0; i < a.size; ++i) {
        sum = plus_product(sum, a.first[i * a.step], b.first[i * b.step]);
    }
    return sum;
}

}  // namespace quern::arrays::detail
