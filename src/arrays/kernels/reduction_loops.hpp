// SPDX-License-Identifier: BSL-1.0
// The innermost loops of reductions: along a line, and of many columns at once.
#pragma once

#include "kernels/loops.hpp"

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace quern::arrays::detail {

/// Lines up to this many elements are reduced in eight chains, as in NumPy; longer ones are halved.
inline constexpr std::ptrdiff_t k_leaf = 128;

/// Where a range of more than k_leaf is halved: at a multiple of 8, as in NumPy.
constexpr std::ptrdiff_t middle_of(std::ptrdiff_t count) noexcept {
    const std::ptrdiff_t half = count / 2;
    return half - half % 8;
}

template <class T>
T load(const std::byte* at) noexcept {
    return *reinterpret_cast<const T*>(at);
}

/// How elements of type T become results of type A: R::first(element), R::join(a, b).
template <class R, class T, class A>
A leaf_line(const std::byte* at, std::ptrdiff_t count, std::ptrdiff_t stride) noexcept {
    const auto element = [&](std::ptrdiff_t i) {
        return R::template first<A>(load<T>(at + i * stride));
    };
    if (count < 8) {
        A all = element(0);
        for (std::ptrdiff_t i = 1; i < count; ++i) {
            all = R::join(all, element(i));
        }
        return all;
    }
    A chains[8];
    for (std::ptrdiff_t j = 0; j < 8; ++j) {
        chains[j] = element(j);
    }
    std::ptrdiff_t i = 8;
    for (; i + 8 <= count; i += 8) {
        for (std::ptrdiff_t j = 0; j < 8; ++j) {
            chains[j] = R::join(chains[j], element(i + j));
        }
    }
    A all = R::join(R::join(R::join(chains[0], chains[1]), R::join(chains[2], chains[3])),
                    R::join(R::join(chains[4], chains[5]), R::join(chains[6], chains[7])));
    for (; i < count; ++i) {
        all = R::join(all, element(i));
    }
    return all;
}

/// results[c] = the elements of column c, one row after the other. Requires: count >= 1.
template <class R, class T, class A>
void leaf_rows(const std::byte* at, std::ptrdiff_t count, std::ptrdiff_t row_stride, A* results,
               std::ptrdiff_t columns, std::ptrdiff_t column_stride) noexcept {
    const bool dense = column_stride == static_cast<std::ptrdiff_t>(sizeof(T));
    for (std::ptrdiff_t row = 0; row < count; ++row, at += row_stride) {
        if (dense && row > 0) {
            const T* const elements = reinterpret_cast<const T*>(at);
            QUERN_INDEPENDENT_ITERATIONS
            for (std::ptrdiff_t c = 0; c < columns; ++c) {
                results[c] = R::join(results[c], R::template first<A>(elements[c]));
            }
            continue;
        }
        for (std::ptrdiff_t c = 0; c < columns; ++c) {
            const A next = R::template first<A>(load<T>(at + c * column_stride));
            results[c] = row == 0 ? next : R::join(results[c], next);
        }
    }
}

}  // namespace quern::arrays::detail
