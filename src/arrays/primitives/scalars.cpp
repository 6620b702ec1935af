// SPDX-License-Identifier: BSL-1.0
#include "primitives/scalars.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::arrays::detail {

namespace {

bool is_whole(const value& v) noexcept { return !v.is<double>(); }

std::int64_t whole_of(const value& v) noexcept {
    const auto* const flag = v.as<bool>();
    return flag != nullptr ? std::int64_t{*flag} : *v.as<std::int64_t>();
}

double real_of(const value& v) noexcept {
    const auto* const real = v.as<double>();
    return real != nullptr ? *real : static_cast<double>(whole_of(v));
}

[[noreturn]] void refuse_overflow(std::string_view symbol, std::span<const value> v) {
    std::string text = describe(v[0]);
    text = v.size() == 1 ? std::string(symbol) + text
                         : text + " " + std::string(symbol) + " " + describe(v[1]);
    throw std::overflow_error(text +
                              " does not fit into int64; Python's longer integers are not "
                              "accepted here");
}

bool are_whole(std::span<const value> v) noexcept { return is_whole(v[0]) && is_whole(v[1]); }

value add(std::span<const value> v) {
    if (!are_whole(v)) return real_of(v[0]) + real_of(v[1]);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(whole_of(v[0]), whole_of(v[1]), &sum)) refuse_overflow("+", v);
    return sum;
}

value subtract(std::span<const value> v) {
    if (!are_whole(v)) return real_of(v[0]) - real_of(v[1]);
    std::int64_t rest = 0;
    if (__builtin_sub_overflow(whole_of(v[0]), whole_of(v[1]), &rest)) refuse_overflow("-", v);
    return rest;
}

value multiply(std::span<const value> v) {
    if (!are_whole(v)) return real_of(v[0]) * real_of(v[1]);
    std::int64_t all = 0;
    if (__builtin_mul_overflow(whole_of(v[0]), whole_of(v[1]), &all)) refuse_overflow("*", v);
    return all;
}

value divide(std::span<const value> v) {
    const double by = real_of(v[1]);
    if (by == 0) {
        throw zero_division_error(are_whole(v) ? "division by zero" : "float division by zero");
    }
    return real_of(v[0]) / by;
}

/// Python's quotient and remainder of floats.
std::pair<double, double> divided(double a, double b) noexcept {
    double rest = std::fmod(a, b);
    double whole = (a - rest) / b;
    if (rest == 0) {
        rest = std::copysign(0.0, b);
    } else if ((b < 0) != (rest < 0)) {
        rest += b;
        whole -= 1;
    }
    if (whole == 0) return {std::copysign(0.0, a / b), rest};
    const double floor = std::floor(whole);
    return {whole - floor > 0.5 ? floor + 1 : floor, rest};
}

value floor_divide(std::span<const value> v) {
    if (!are_whole(v)) {
        if (real_of(v[1]) == 0) throw zero_division_error("float floor division by zero");
        return divided(real_of(v[0]), real_of(v[1])).first;
    }
    const std::int64_t a = whole_of(v[0]);
    const std::int64_t b = whole_of(v[1]);
    if (b == 0) throw zero_division_error("integer division or modulo by zero");
    if (b == -1) {
        const value pair[] = {std::int64_t{0}, a};
        return subtract(pair);
    }
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

value remainder(std::span<const value> v) {
    if (!are_whole(v)) {
        if (real_of(v[1]) == 0) throw zero_division_error("float modulo");
        return divided(real_of(v[0]), real_of(v[1])).second;
    }
    const std::int64_t a = whole_of(v[0]);
    const std::int64_t b = whole_of(v[1]);
    if (b == 0) throw zero_division_error("integer modulo by zero");
    if (b == -1) return std::int64_t{0};
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

value whole_power(std::span<const value> v) {
    std::int64_t base = whole_of(v[0]);
    std::int64_t result = 1;
    for (std::int64_t left = whole_of(v[1]); left > 0; left >>= 1) {
        if ((left & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
            refuse_overflow("**", v);
        }
        if (left > 1 && __builtin_mul_overflow(base, base, &base)) refuse_overflow("**", v);
    }
    return result;
}

value power(std::span<const value> v) {
    if (are_whole(v) && whole_of(v[1]) >= 0) return whole_power(v);
    const double base = real_of(v[0]);
    const double exponent = real_of(v[1]);
    if (base == 0 && exponent < 0) {
        throw zero_division_error("0.0 cannot be raised to a negative power");
    }
    if (base < 0 && std::isfinite(exponent) && std::floor(exponent) != exponent) {
        throw std::invalid_argument(describe(v[0]) + " ** " + describe(v[1]) +
                                    " is complex: complex numbers are not accepted");
    }
    const double result = std::pow(base, exponent);
    if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
        throw std::overflow_error(describe(v[0]) + " ** " + describe(v[1]) + " is out of range");
    }
    return result;
}

value negative(std::span<const value> v) {
    if (!is_whole(v[0])) return -real_of(v[0]);
    std::int64_t rest = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, whole_of(v[0]), &rest)) refuse_overflow("-", v);
    return rest;
}

value positive(std::span<const value> v) {
    return is_whole(v[0]) ? value(whole_of(v[0])) : value(real_of(v[0]));
}

value absolute(std::span<const value> v) {
    if (!is_whole(v[0])) return std::fabs(real_of(v[0]));
    return whole_of(v[0]) < 0 ? negative(v) : positive(v);
}

/// Integers and floats are compared exactly: long double holds both.
template <class Compare>
value compare(std::span<const value> v) {
    if (are_whole(v)) return Compare()(whole_of(v[0]), whole_of(v[1]));
    const auto exact = [](const value& of) {
        return is_whole(of) ? static_cast<long double>(whole_of(of))
                            : static_cast<long double>(real_of(of));
    };
    return Compare()(exact(v[0]), exact(v[1]));
}

std::string type_name_of(const value& v) {
    return v.is<bool>() ? "'bool'" : v.is<double>() ? "'float'" : "'int'";
}

void require_whole(std::span<const value> v, std::string_view symbol) {
    if (is_whole(v[0]) && is_whole(v[v.size() - 1])) return;
    if (v.size() == 1) throw type_error("bad operand type for unary ~: 'float'");
    throw type_error("unsupported operand type(s) for " + std::string(symbol) + ": " +
                     type_name_of(v[0]) + " and " + type_name_of(v[1]));
}

template <class Operation>
value bits(std::span<const value> v, std::string_view symbol) {
    require_whole(v, symbol);
    const std::int64_t result = Operation()(whole_of(v[0]), whole_of(v[1]));
    if (v[0].is<bool>() && v[1].is<bool>()) return result != 0;
    return result;
}

value invert(std::span<const value> v) {
    require_whole(v, "~");
    return ~whole_of(v[0]);
}

std::int64_t bits_to_shift(std::span<const value> v, std::string_view symbol) {
    require_whole(v, symbol);
    if (whole_of(v[1]) < 0) throw std::invalid_argument("negative shift count");
    return whole_of(v[1]);
}

value left_shift(std::span<const value> v) {
    const std::int64_t count = bits_to_shift(v, "<<");
    const std::int64_t a = whole_of(v[0]);
    if (a == 0) return std::int64_t{0};
    std::int64_t result = 0;
    if (count > 62 || __builtin_mul_overflow(a, std::int64_t{1} << count, &result)) {
        refuse_overflow("<<", v);
    }
    return result;
}

value right_shift(std::span<const value> v) {
    const std::int64_t count = bits_to_shift(v, ">>");
    return whole_of(v[0]) >> std::min<std::int64_t>(count, 63);
}

struct named_operator {
    std::string_view name;
    scalar_operator run;
};

constexpr named_operator k_operators[] = {
    {"add", add},
    {"subtract", subtract},
    {"multiply", multiply},
    {"divide", divide},
    {"floor_divide", floor_divide},
    {"remainder", remainder},
    {"power", power},
    {"negative", negative},
    {"positive", positive},
    {"absolute", absolute},
    {"equal", compare<std::equal_to<>>},
    {"not_equal", compare<std::not_equal_to<>>},
    {"less", compare<std::less<>>},
    {"less_equal", compare<std::less_equal<>>},
    {"greater", compare<std::greater<>>},
    {"greater_equal", compare<std::greater_equal<>>},
    {"bitwise_and", [](std::span<const value> v) { return bits<std::bit_and<>>(v, "&"); }},
    {"bitwise_or", [](std::span<const value> v) { return bits<std::bit_or<>>(v, "|"); }},
    {"bitwise_xor", [](std::span<const value> v) { return bits<std::bit_xor<>>(v, "^"); }},
    {"invert", invert},
    {"left_shift", left_shift},
    {"right_shift", right_shift},
};

}  // namespace

scalar_operator scalar_operator_named(std::string_view name) noexcept {
    for (const named_operator& each : k_operators) {
        if (each.name == name) return each.run;
    }
    return nullptr;
}

}  // namespace quern::arrays::detail
