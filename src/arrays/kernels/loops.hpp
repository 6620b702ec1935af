// SPDX-License-Identifier: BSL-1.0
// Loops made of a function of one element, and rows of the table made of such loops. Elements that
// lie one after the other, and single ones (stride 0), have loops that the compiler vectorises.
#pragma once

#include "kernels/table.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

// Before a loop whose iterations do not read what others write. clang has no such pragma: it checks
// when the loop begins.
#ifdef __clang__
#    define QUERN_INDEPENDENT_ITERATIONS
#else
#    define QUERN_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace quern::arrays::detail {

template <class T>
T& element(char* base, std::ptrdiff_t offset) noexcept {
    return *reinterpret_cast<T*>(base + offset);
}

template <class T>
bool is_nan(T a) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
        return std::isnan(a);
    } else {
        return false;
    }
}

template <class T>
inline constexpr std::ptrdiff_t k_step = static_cast<std::ptrdiff_t>(sizeof(T));

template <class F, class T>
void unary_loop(char** arguments, const std::ptrdiff_t* count, const std::ptrdiff_t* strides,
                void*) {
    using R = decltype(F::of(T{}));
    const std::ptrdiff_t n = *count;
    char* const in = arguments[0];
    char* const out = arguments[1];
    if (strides[0] == k_step<T> && strides[1] == k_step<R>) {
        const T* const x = reinterpret_cast<const T*>(in);
        R* const y = reinterpret_cast<R*>(out);
        // Input and output are the same elements or none in common.
        QUERN_INDEPENDENT_ITERATIONS
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            y[i] = F::of(x[i]);
        }
        return;
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        element<R>(out, i * strides[1]) = F::of(element<T>(in, i * strides[0]));
    }
}

/// Both inputs one after the other, or one of them a single element: step 0.
template <class F, class T, std::ptrdiff_t StepA, std::ptrdiff_t StepB, class R>
void dense_binary(const T* a, const T* b, R* out, std::ptrdiff_t n) noexcept {
    const T first_a = *a;
    const T first_b = *b;
    QUERN_INDEPENDENT_ITERATIONS
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        out[i] = F::of(StepA == 0 ? first_a : a[i], StepB == 0 ? first_b : b[i]);
    }
}

template <class F, class T>
void binary_loop(char** arguments, const std::ptrdiff_t* count, const std::ptrdiff_t* strides,
                 void*) {
    using R = decltype(F::of(T{}, T{}));
    const std::ptrdiff_t n = *count;
    if (n <= 0) return;
    const T* const a = reinterpret_cast<const T*>(arguments[0]);
    const T* const b = reinterpret_cast<const T*>(arguments[1]);
    R* const out = reinterpret_cast<R*>(arguments[2]);
    const bool dense = strides[2] == k_step<R>;
    if (dense && strides[0] == k_step<T> && strides[1] == k_step<T>) {
        return dense_binary<F, T, 1, 1>(a, b, out, n);
    }
    if (dense && strides[0] == k_step<T> && strides[1] == 0) {
        return dense_binary<F, T, 1, 0>(a, b, out, n);
    }
    if (dense && strides[0] == 0 && strides[1] == k_step<T>) {
        return dense_binary<F, T, 0, 1>(a, b, out, n);
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        element<R>(arguments[2], i * strides[2]) = F::of(element<T>(arguments[0], i * strides[0]),
                                                         element<T>(arguments[1], i * strides[1]));
    }
}

/// First is bool or T.
template <class F, class First, class T>
void ternary_loop(char** arguments, const std::ptrdiff_t* count, const std::ptrdiff_t* strides,
                  void*) {
    const std::ptrdiff_t n = *count;
    if (strides[0] == k_step<First> && strides[1] == k_step<T> && strides[2] == k_step<T> &&
        strides[3] == k_step<T>) {
        const First* const a = reinterpret_cast<const First*>(arguments[0]);
        const T* const b = reinterpret_cast<const T*>(arguments[1]);
        const T* const c = reinterpret_cast<const T*>(arguments[2]);
        T* const out = reinterpret_cast<T*>(arguments[3]);
        QUERN_INDEPENDENT_ITERATIONS
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            out[i] = F::of(a[i], b[i], c[i]);
        }
        return;
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        element<T>(arguments[3], i * strides[3]) = F::of(
            element<First>(arguments[0], i * strides[0]), element<T>(arguments[1], i * strides[1]),
            element<T>(arguments[2], i * strides[2]));
    }
}

// Sets of types.
using all_types = std::tuple<bool, std::int32_t, std::int64_t, float, double>;
using number_types = std::tuple<std::int32_t, std::int64_t, float, double>;
using whole_types = std::tuple<std::int32_t, std::int64_t>;
using bit_types = std::tuple<bool, std::int32_t, std::int64_t>;
using real_types = std::tuple<float, double>;

/// Types without a loop get that of the next type that holds them.
inline void fill_gaps(kernel_row& row) noexcept {
    for (std::size_t i = row.of.size(); i-- > 0;) {
        if (row.of[i].loop != nullptr) continue;
        const auto type = static_cast<dtype>(i);
        for (std::size_t j = i + 1; j < row.of.size(); ++j) {
            const bool holds = !(is_integer(type) && static_cast<dtype>(j) == dtype::float32);
            const bool is_own =
                row.of[j].loop != nullptr && row.of[j].computes == static_cast<dtype>(j);
            if (holds && is_own) {
                row.of[i] = row.of[j];
                break;
            }
        }
    }
}

template <class R, class T>
void put(kernel_row& row, kernel_loop loop) noexcept {
    row.at(dtype_of<T>) = {loop, nullptr, dtype_of<T>, dtype_of<R>, loop};
}

template <class F, class... T>
kernel_row unary_row(std::string_view name, std::tuple<T...>, bool is_dear = false) {
    kernel_row row{name, 1, false, is_dear, true, {}};
    (put<decltype(F::of(T{})), T>(row, &unary_loop<F, T>), ...);
    fill_gaps(row);
    return row;
}

template <class F, class... T>
kernel_row binary_row(std::string_view name, std::tuple<T...>, bool is_dear = false) {
    kernel_row row{name, 2, false, is_dear, true, {}};
    (put<decltype(F::of(T{}, T{})), T>(row, &binary_loop<F, T>), ...);
    fill_gaps(row);
    return row;
}

}  // namespace quern::arrays::detail
