// SPDX-License-Identifier: BSL-1.0
// Arithmetic of elements, with NumPy's rules: integers wrap, and divided by 0 they give 0.
#include "kernels/loops.hpp"

#include <cmath>
#include <concepts>
#include <limits>

namespace quern::arrays::detail {

namespace {

/// The type to compute in, so that integers wrap.
template <class T>
using wrapping = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

struct add {
    static bool of(bool a, bool b) noexcept { return a || b; }
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(wrapping<T>(a) + wrapping<T>(b));
    }
};

struct subtract {
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(wrapping<T>(a) - wrapping<T>(b));
    }
};

struct multiply {
    static bool of(bool a, bool b) noexcept { return a && b; }
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(wrapping<T>(a) * wrapping<T>(b));
    }
};

struct divide {
    template <std::floating_point T>
    static T of(T a, T b) noexcept {
        return a / b;
    }
};

/// Python's floored quotient and the remainder that belongs to it.
template <std::floating_point T>
struct quotient {
    quotient(T a, T b) noexcept : rest(std::fmod(a, b)) {
        T exact = (a - rest) / b;
        if (rest == 0) {
            rest = std::copysign(T{0}, b);
        } else if ((b < 0) != (rest < 0)) {
            rest += b;
            exact -= 1;
        }
        whole = std::floor(exact);
        if (exact - whole > T(0.5)) whole += 1;
        if (exact == 0) whole = std::copysign(T{0}, a / b);
    }
    T rest;
    T whole{};
};

struct floor_divide {
    template <std::integral T>
    static T of(T a, T b) noexcept {
        if (b == 0) return 0;
        if (b == -1) return subtract::of(T{0}, a);
        const T whole = static_cast<T>(a / b);
        return static_cast<T>(whole - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
    }
    template <std::floating_point T>
    static T of(T a, T b) noexcept {
        return b == 0 ? a / b : quotient<T>(a, b).whole;
    }
};

struct remainder {
    template <std::integral T>
    static T of(T a, T b) noexcept {
        if (b == 0 || b == -1) return 0;
        const T rest = static_cast<T>(a % b);
        return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    template <std::floating_point T>
    static T of(T a, T b) noexcept {
        return b == 0 ? std::fmod(a, b) : quotient<T>(a, b).rest;
    }
};

/// Negative powers of integers are refused before the loop.
struct power {
    template <std::integral T>
    static T of(T base, T exponent) noexcept {
        T result = 1;
        for (T left = exponent; left > 0; left = static_cast<T>(left >> 1)) {
            if ((left & 1) != 0) result = multiply::of(result, base);
            base = multiply::of(base, base);
        }
        return result;
    }
    template <std::floating_point T>
    static T of(T base, T exponent) noexcept {
        return std::pow(base, exponent);
    }
};

struct negative {
    template <class T>
    static T of(T a) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return subtract::of(T{0}, a);
        } else {
            return -a;
        }
    }
};

struct positive {
    template <class T>
    static T of(T a) noexcept {
        return a;
    }
};

struct absolute {
    static bool of(bool a) noexcept { return a; }
    template <class T>
    static T of(T a) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return a < 0 ? negative::of(a) : a;
        } else {
            return std::fabs(a);
        }
    }
};

struct sign {
    template <class T>
    static T of(T a) noexcept {
        if (a > 0) return 1;
        if (a < 0) return -1;
        return a == 0 ? T{0} : a;  // else not a number
    }
};

struct square {
    template <class T>
    static T of(T a) noexcept {
        return multiply::of(a, a);
    }
};

struct reciprocal {
    template <class T>
    static T of(T a) noexcept {
        if constexpr (std::is_integral_v<T>) {
            // What NumPy gives for 0: 1 / 0.0 converted on x86.
            return a == 0 ? std::numeric_limits<T>::min() : static_cast<T>(1 / a);
        } else {
            return T{1} / a;
        }
    }
};

struct minimum {
    template <class T>
    static T of(T a, T b) noexcept {
        return a <= b || detail::is_nan(a) ? a : b;
    }
};

struct maximum {
    template <class T>
    static T of(T a, T b) noexcept {
        return a >= b || detail::is_nan(a) ? a : b;
    }
};

struct fmin {
    template <class T>
    static T of(T a, T b) noexcept {
        return a <= b || detail::is_nan(b) ? a : b;
    }
};

struct fmax {
    template <class T>
    static T of(T a, T b) noexcept {
        return a >= b || detail::is_nan(b) ? a : b;
    }
};

struct clip {
    template <class T>
    static T of(T a, T least, T most) noexcept {
        return minimum::of(maximum::of(a, least), most);
    }
};

struct choose {
    template <class T>
    static T of(bool condition, T a, T b) noexcept {
        return condition ? a : b;
    }
};

template <class... T>
kernel_row clip_row(std::tuple<T...>) {
    kernel_row row{"clip", 3, false, false, true, {}};
    (put<T, T>(row, &ternary_loop<clip, T, T>), ...);
    return row;
}

template <class... T>
kernel_row where_row(std::tuple<T...>) {
    kernel_row row{"where", 3, true, false, false, {}};
    (put<T, T>(row, &ternary_loop<choose, bool, T>), ...);
    return row;
}

/// Division of integers and booleans is of float64.
kernel_row divide_row() {
    kernel_row row = binary_row<divide>("divide", real_types());
    row.at(dtype::boolean) = row.at(dtype::float64);
    return row;
}

/// Loops of other languages may refuse negative powers of integers, which a loop must not.
kernel_row power_row() {
    kernel_row row = binary_row<power>("power", number_types(), true);
    for (const dtype type : {dtype::boolean, dtype::int32, dtype::int64}) {
        row.at(type).own = nullptr;
    }
    return row;
}

}  // namespace

std::vector<kernel_row> arithmetic_rows() {
    return {binary_row<add>("add", all_types()),
            binary_row<subtract>("subtract", number_types()),
            binary_row<multiply>("multiply", all_types()),
            divide_row(),
            binary_row<floor_divide>("floor_divide", number_types(), true),
            binary_row<remainder>("remainder", number_types(), true),
            power_row(),
            unary_row<negative>("negative", number_types()),
            unary_row<positive>("positive", number_types()),
            unary_row<absolute>("absolute", all_types()),
            unary_row<sign>("sign", number_types()),
            unary_row<square>("square", number_types()),
            unary_row<reciprocal>("reciprocal", number_types()),
            binary_row<minimum>("minimum", all_types()),
            binary_row<maximum>("maximum", all_types()),
            binary_row<fmin>("fmin", all_types()),
            binary_row<fmax>("fmax", all_types()),
            clip_row(all_types()),
            where_row(all_types())};
}

}  // namespace quern::arrays::detail
