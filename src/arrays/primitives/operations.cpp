// SPDX-License-Identifier: BSL-1.0
#include "primitives/operations.hpp"

#include "core/text.hpp"
#include "kernels/elementwise.hpp"
#include "primitives/arguments.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace quern::arrays::detail {

namespace {

constexpr std::string_view k_comparisons[] = {"equal",       "not_equal",  "less",
                                              "less_equal",  "greater",    "greater_equal",
                                              "logical_and", "logical_or", "logical_xor"};
constexpr std::string_view k_without_boolean[] = {"subtract", "negative", "positive", "sign"};

[[noreturn]] void refuse_types(const operation& of) {
    if (of.name == "subtract") {
        throw type_error(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the "
            "`^` operator, or the logical_xor function instead.");
    }
    if (of.name == "negative") {
        throw type_error(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator "
            "or the logical_not function instead.");
    }
    if (of.refuses_boolean) {
        throw type_error("ufunc '" + std::string(of.name) +
                         "' did not contain a loop with signature matching types "
                         "<class 'numpy.dtypes.BoolDType'> -> None");
    }
    throw type_error("ufunc '" + std::string(of.name) +
                     "' not supported for the input types, and the inputs could not be safely "
                     "coerced to any supported types according to the casting rule ''safe''");
}

bool fits(std::int64_t whole, dtype type) noexcept {
    if (type != dtype::int32) return true;
    return whole >= std::numeric_limits<std::int32_t>::min() &&
           whole <= std::numeric_limits<std::int32_t>::max();
}

template <class T>
array scalar_array(T of) {
    array made(dtype_of<T>, {});
    *made.data<T>() = of;
    return made;
}

template <class From>
array scalar_of_type(From of, dtype type) {
    switch (type) {
        case dtype::boolean:
            return scalar_array(of != From{});
        case dtype::int32:
            return scalar_array(static_cast<std::int32_t>(of));
        case dtype::int64:
            return scalar_array(static_cast<std::int64_t>(of));
        case dtype::float32:
            return scalar_array(static_cast<float>(of));
        case dtype::float64:
            break;
    }
    return scalar_array(static_cast<double>(of));
}

/// Comparisons of int32 with a Python integer that it cannot hold are of int64.
dtype widened(const operation& of, std::span<const value> operands, dtype type) {
    for (const value& each : operands) {
        const auto* const whole = each.as<std::int64_t>();
        if (of.compares && whole != nullptr && !fits(*whole, type)) return dtype::int64;
    }
    return type;
}

void refuse_negative_powers(const array& exponents) {
    bool negative = false;
    const auto check = [&](auto zero) {
        using T = decltype(zero);
        array whole(exponents.type(), exponents.shape());
        const dtype type = exponents.type();
        run_elementwise({copy_loop(type), nullptr, {&exponents, 1}, {&type, 1}, &whole, type});
        negative =
            std::any_of(whole.data<T>(), whole.data<T>() + whole.size(), [](T n) { return n < 0; });
    };
    if (exponents.type() == dtype::int32) check(std::int32_t{});
    if (exponents.type() == dtype::int64) check(std::int64_t{});
    if (negative) {
        throw std::invalid_argument("Integers to negative integer powers are not allowed.");
    }
}

/// Squares and the like of a power whose exponent is a Python scalar.
const kernel_row* simpler_than_power(const value& exponent, dtype type) {
    const auto* const whole = exponent.as<std::int64_t>();
    const auto* const real = exponent.as<double>();
    if (whole == nullptr && real == nullptr) return nullptr;
    const double by = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (by == 2 && type != dtype::boolean) return &row_named("square");
    if (!is_float(type)) return nullptr;
    if (by == 0.5) return &row_named("sqrt");
    if (by == 1) return &row_named("positive");
    return by == -1 ? &row_named("reciprocal") : nullptr;
}

bool all_scalars(std::span<const value> operands) noexcept {
    return std::ranges::all_of(operands, is_scalar);
}

bool is_word(const value& v) noexcept {
    return v.is_none() || v.is<std::string>() || v.is<dtype>();
}

/// == and != of None, text and types, which programs compare arguments with.
std::optional<value> compared_words(const operation& of, std::span<const value> v) {
    if (!of.compares || !(is_word(v[0]) || is_word(v[1]))) return std::nullopt;
    if (of.name != "equal" && of.name != "not_equal") return std::nullopt;
    bool same = v[0].index() == v[1].index();
    if (same && v[0].is<std::string>()) same = *v[0].as<std::string>() == *v[1].as<std::string>();
    if (same && v[0].is<dtype>()) same = *v[0].as<dtype>() == *v[1].as<dtype>();
    return same == (of.name == "equal");
}

[[noreturn]] void refuse_cast(const operation& of, dtype from, dtype to) {
    throw type_error("Cannot cast ufunc '" + std::string(of.name) + "' output from dtype('" +
                     std::string(name_of(from)) + "') to dtype('" + std::string(name_of(to)) +
                     "') with casting rule 'same_kind'");
}

}  // namespace

chosen_loop choose_loop(const operation& of, std::span<const value> operands) {
    const std::size_t first = of.row->condition_first ? 1 : 0;
    const dtype type = widened(of, operands, detail::common_type(operands.subspan(first), of.name));
    chosen_loop found{of.row, &of.row->at(type), {}};
    if (of.refuses_boolean && type == dtype::boolean) refuse_types(of);
    if (of.is_power) {
        if (const kernel_row* const simpler = simpler_than_power(operands[1], type)) {
            found.row = simpler;
            found.of = &simpler->at(type);
            operands = operands.first(1);
        }
    }
    if (found.of->loop == nullptr) refuse_types(of);
    found.inputs.size = operands.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool is_condition = i < first;
        // A scalar must fit into the operands' type, which the loop's may be wider than.
        array a = is_condition ? array_of_type(operands[i], dtype::boolean, of.name)
                               : array_of_type(operands[i], type, of.name);
        const dtype wanted = is_condition ? dtype::boolean : found.of->computes;
        if (a.size() == 1 && a.type() != wanted) {
            array converted(wanted, a.shape());
            const dtype from = a.type();
            run_elementwise(
                {cast_loop(from, wanted), nullptr, {&a, 1}, {&from, 1}, &converted, wanted});
            a = converted;
        }
        found.inputs.arrays[i] = a;
    }
    if (of.is_power && found.row == of.row && found.of->own == nullptr &&
        std::ranges::count(common_shape(found.inputs.all()), 0) == 0) {
        refuse_negative_powers(found.inputs.arrays[1]);
    }
    return found;
}

operation::operation(std::string_view name_of_it)
    : name(name_of_it),
      row(&row_named(name_of_it)),
      of_scalars(scalar_operator_named(name_of_it)),
      compares(std::ranges::count(k_comparisons, name_of_it) > 0),
      refuses_boolean(std::ranges::count(k_without_boolean, name_of_it) > 0),
      is_power(name_of_it == "power") {}

bool is_same_kind(dtype from, dtype to) noexcept {
    const auto kind = [](dtype type) { return is_float(type) ? 2 : is_integer(type) ? 1 : 0; };
    return kind(from) <= kind(to);
}

dtype common_type(std::span<const value> operands, std::string_view what) {
    std::optional<dtype> strong;
    bool has_whole = false;
    bool has_real = false;
    for (const value& each : operands) {
        if (each.is<std::int64_t>()) {
            has_whole = true;
        } else if (each.is<double>()) {
            has_real = true;
        } else {
            const auto* const a = each.as<array>();
            const dtype type = a != nullptr      ? a->type()
                               : each.is<bool>() ? dtype::boolean
                                                 : array_from(each, what).type();
            strong = strong ? promote(*strong, type) : type;
        }
    }
    if (has_real && !(strong && is_float(*strong))) return dtype::float64;
    if (has_whole && !(strong && *strong != dtype::boolean)) return dtype::int64;
    return strong.value_or(dtype::float64);
}

array array_of_type(const value& from, dtype type, std::string_view what) {
    if (const auto* const a = from.as<array>()) return *a;
    if (const auto* const flag = from.as<bool>()) return scalar_of_type(int{*flag}, type);
    if (const auto* const real = from.as<double>()) return scalar_of_type(*real, type);
    if (const auto* const whole = from.as<std::int64_t>()) {
        if (!fits(*whole, type)) {
            throw std::overflow_error("Python integer " + std::to_string(*whole) +
                                      " out of bounds for " + std::string(name_of(type)));
        }
        return scalar_of_type(*whole, type);
    }
    return array_from(from, what);
}

extents common_shape(std::span<const array> arrays, const array* output) {
    extents shape = arrays[0].shape();
    try {
        for (const array& each : arrays.subspan(1)) {
            if (!(each.shape() == shape)) shape = broadcast(shape, each.shape());
        }
    } catch (const std::invalid_argument&) {
        std::string text = "operands could not be broadcast together with shapes";
        for (const array& each : arrays) {
            text += " " + text_of(each.shape());
        }
        if (output != nullptr) text += " " + text_of(output->shape());
        throw std::invalid_argument(text);
    }
    return shape;
}

value run_operation(const operation& of, std::span<const value> operands) {
    if (of.of_scalars != nullptr && all_scalars(operands)) return of.of_scalars(operands);
    if (const auto words = compared_words(of, operands)) return *words;
    const chosen_loop found = choose_loop(of, operands);
    array output(found.of->output, common_shape(found.inputs.all()));
    run_kernel(*found.row, *found.of, found.inputs.all(), output);
    return output;
}

value run_in_place(const operation& of, std::span<const value> operands) {
    const auto* const target = operands[0].as<array>();
    if (target == nullptr || target->dimensions() == 0) return run_operation(of, operands);
    if (!target->is_writable()) throw std::invalid_argument("output array is read-only");
    chosen_loop found = choose_loop(of, operands);
    if (!is_same_kind(found.of->output, target->type())) {
        refuse_cast(of, found.of->output, target->type());
    }
    const extents shape = common_shape(found.inputs.all(), target);
    if (!(shape == target->shape())) {
        throw std::invalid_argument("non-broadcastable output operand with shape " +
                                    text_of(target->shape()) +
                                    " doesn't match the broadcast shape " + text_of(shape));
    }
    for (std::size_t i = 0; i < found.inputs.size; ++i) {
        found.inputs.arrays[i] = without_overlap(found.inputs.arrays[i], *target);
    }
    run_kernel(*found.row, *found.of, found.inputs.all(), *target);
    return operands[0];
}

}  // namespace quern::arrays::detail
