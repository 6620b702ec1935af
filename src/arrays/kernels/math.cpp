// SPDX-License-Identifier: BSL-1.0
// The elementary functions of elements: those of the C++ library.
#include "kernels/loops.hpp"

#include <cmath>

namespace quern::arrays::detail {

namespace {

/// A function of one number, by a lambda without captures.
template <auto Function>
struct by {
    template <class T>
    static T of(T a) noexcept {
        return Function(a);
    }
};

using cbrt_of = by<[](auto a) { return std::cbrt(a); }>;
using sqrt_of = by<[](auto a) { return std::sqrt(a); }>;
using exp_of = by<[](auto a) { return std::exp(a); }>;
using exp2_of = by<[](auto a) { return std::exp2(a); }>;
using log_of = by<[](auto a) { return std::log(a); }>;
using log2_of = by<[](auto a) { return std::log2(a); }>;
using log10_of = by<[](auto a) { return std::log10(a); }>;
using log1p_of = by<[](auto a) { return std::log1p(a); }>;
using expm1_of = by<[](auto a) { return std::expm1(a); }>;
using sin_of = by<[](auto a) { return std::sin(a); }>;
using cos_of = by<[](auto a) { return std::cos(a); }>;
using tan_of = by<[](auto a) { return std::tan(a); }>;
using arcsin_of = by<[](auto a) { return std::asin(a); }>;
using arccos_of = by<[](auto a) { return std::acos(a); }>;
using arctan_of = by<[](auto a) { return std::atan(a); }>;
using sinh_of = by<[](auto a) { return std::sinh(a); }>;
using cosh_of = by<[](auto a) { return std::cosh(a); }>;
using tanh_of = by<[](auto a) { return std::tanh(a); }>;
using rint_of = by<[](auto a) { return std::nearbyint(a); }>;

/// Integers and booleans are whole already.
template <auto Function>
struct rounded {
    template <class T>
    static T of(T a) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return a;
        } else {
            return Function(a);
        }
    }
};

using floor_of = rounded<[](auto a) { return std::floor(a); }>;
using ceil_of = rounded<[](auto a) { return std::ceil(a); }>;
using trunc_of = rounded<[](auto a) { return std::trunc(a); }>;

struct arctan2 {
    template <class T>
    static T of(T a, T b) noexcept {
        return std::atan2(a, b);
    }
};

struct hypot {
    template <class T>
    static T of(T a, T b) noexcept {
        return std::hypot(a, b);
    }
};

}  // namespace

std::vector<kernel_row> math_rows() {
    return {unary_row<cbrt_of>("cbrt", real_types(), true),
            unary_row<sqrt_of>("sqrt", real_types()),
            unary_row<exp_of>("exp", real_types(), true),
            unary_row<exp2_of>("exp2", real_types(), true),
            unary_row<log_of>("log", real_types(), true),
            unary_row<log2_of>("log2", real_types(), true),
            unary_row<log10_of>("log10", real_types(), true),
            unary_row<log1p_of>("log1p", real_types(), true),
            unary_row<expm1_of>("expm1", real_types(), true),
            unary_row<sin_of>("sin", real_types(), true),
            unary_row<cos_of>("cos", real_types(), true),
            unary_row<tan_of>("tan", real_types(), true),
            unary_row<arcsin_of>("arcsin", real_types(), true),
            unary_row<arccos_of>("arccos", real_types(), true),
            unary_row<arctan_of>("arctan", real_types(), true),
            unary_row<sinh_of>("sinh", real_types(), true),
            unary_row<cosh_of>("cosh", real_types(), true),
            unary_row<tanh_of>("tanh", real_types(), true),
            unary_row<rint_of>("rint", real_types()),
            unary_row<floor_of>("floor", all_types()),
            unary_row<ceil_of>("ceil", all_types()),
            unary_row<trunc_of>("trunc", all_types()),
            binary_row<arctan2>("arctan2", real_types(), true),
            binary_row<hypot>("hypot", real_types(), true)};
}

}  // namespace quern::arrays::detail
