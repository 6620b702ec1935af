// SPDX-License-Identifier: BSL-1.0
// Comparisons, logic and bits of elements.
#include "kernels/loops.hpp"

#include <cmath>

namespace quern::arrays::detail {

namespace {

struct equal {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a == b;
    }
};
struct not_equal {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a != b;
    }
};
struct less {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a < b;
    }
};
struct less_equal {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a <= b;
    }
};
struct greater {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a > b;
    }
};
struct greater_equal {
    template <class T>
    static bool of(T a, T b) noexcept {
        return a >= b;
    }
};

struct logical_and {
    template <class T>
    static bool of(T a, T b) noexcept {
        return (a != T{}) & (b != T{});
    }
};
struct logical_or {
    template <class T>
    static bool of(T a, T b) noexcept {
        return (a != T{}) | (b != T{});
    }
};
struct logical_xor {
    template <class T>
    static bool of(T a, T b) noexcept {
        return (a != T{}) != (b != T{});
    }
};
struct logical_not {
    template <class T>
    static bool of(T a) noexcept {
        return a == T{};
    }
};

struct bitwise_and {
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(a & b);
    }
};
struct bitwise_or {
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(a | b);
    }
};
struct bitwise_xor {
    template <class T>
    static T of(T a, T b) noexcept {
        return static_cast<T>(a ^ b);
    }
};
struct invert {
    static bool of(bool a) noexcept { return !a; }
    template <class T>
    static T of(T a) noexcept {
        return static_cast<T>(~a);
    }
};

/// Whether the bits can be shifted by so many; by more, or fewer than 0, all bits leave.
template <class T>
bool is_within(T bits) noexcept {
    return bits >= 0 && bits < static_cast<T>(sizeof(T) * 8);
}

struct left_shift {
    template <class T>
    static T of(T a, T bits) noexcept {
        return is_within(bits) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << bits)
                               : T{0};
    }
};
struct right_shift {
    template <class T>
    static T of(T a, T bits) noexcept {
        if (is_within(bits)) return static_cast<T>(a >> bits);
        return a < 0 ? T{-1} : T{0};
    }
};

struct isnan {
    template <class T>
    static bool of(T a) noexcept {
        return detail::is_nan(a);
    }
};
struct isinf {
    template <class T>
    static bool of(T a) noexcept {
        if constexpr (std::is_floating_point_v<T>) {
            return std::isinf(a);
        } else {
            return false;
        }
    }
};
struct isfinite {
    template <class T>
    static bool of(T a) noexcept {
        if constexpr (std::is_floating_point_v<T>) {
            return std::isfinite(a);
        } else {
            return true;
        }
    }
};

}  // namespace

std::vector<kernel_row> comparison_rows() {
    return {binary_row<equal>("equal", all_types()),
            binary_row<not_equal>("not_equal", all_types()),
            binary_row<less>("less", all_types()),
            binary_row<less_equal>("less_equal", all_types()),
            binary_row<greater>("greater", all_types()),
            binary_row<greater_equal>("greater_equal", all_types()),
            binary_row<logical_and>("logical_and", all_types()),
            binary_row<logical_or>("logical_or", all_types()),
            binary_row<logical_xor>("logical_xor", all_types()),
            unary_row<logical_not>("logical_not", all_types()),
            binary_row<bitwise_and>("bitwise_and", bit_types()),
            binary_row<bitwise_or>("bitwise_or", bit_types()),
            binary_row<bitwise_xor>("bitwise_xor", bit_types()),
            unary_row<invert>("invert", bit_types()),
            binary_row<left_shift>("left_shift", whole_types()),
            binary_row<right_shift>("right_shift", whole_types()),
            unary_row<isnan>("isnan", all_types()),
            unary_row<isinf>("isinf", all_types()),
            unary_row<isfinite>("isfinite", all_types())};
}

}  // namespace quern::arrays::detail
