// SPDX-License-Identifier: BSL-1.0
#include "primitives/arguments.hpp"

#include "core/text.hpp"
#include "primitives/copies.hpp"

#include <quern/arrays/errors.hpp>

#include <cstring>
#include <utility>

namespace quern::arrays::detail {

namespace {

[[noreturn]] void refuse_kind(std::string_view what, const value& from, std::string_view accepted) {
    throw type_error(std::string(what) + ": " + describe(from) + " is not " +
                     std::string(accepted));
}

template <class T>
array scalar(T of) {
    array made(dtype_of<T>, {});
    *made.data<T>() = of;
    return made;
}

/// The parts of an array along its first dimension, or of a tuple.
array joined(const values& parts, std::string_view what) {
    if (parts.empty()) return array(dtype::float64, {0});
    std::vector<array> each;
    dtype type{};
    for (const value& part : parts) {
        each.push_back(array_from(part, what));
        type = each.size() == 1u ? each[0].type() : promote(type, each.back().type());
        if (each.back().shape() == each[0].shape()) continue;
        throw std::invalid_argument(
            "setting an array element with a sequence. The requested array has an inhomogeneous "
            "shape after 1 dimensions. The detected shape was (" +
            std::to_string(parts.size()) + ",) + inhomogeneous part.");
    }
    return stacked(each, 0, type);
}

}  // namespace

array array_from(const value& from, std::string_view what) {
    if (const auto* a = from.as<array>()) return *a;
    if (const auto* b = from.as<bool>()) return scalar(*b);
    if (const auto* i = from.as<std::int64_t>()) return scalar(*i);
    if (const auto* d = from.as<double>()) return scalar(*d);
    if (const auto* t = from.as<tuple>()) return joined(**t, what);
    refuse_kind(what, from, "an array, a number, or a tuple of them");
}

std::vector<array> arrays_from(const value& sequence, std::string_view what) {
    std::vector<array> parts;
    if (const auto* t = sequence.as<tuple>()) {
        for (const value& each : **t) {
            parts.push_back(array_from(each, what));
        }
        return parts;
    }
    const auto* a = sequence.as<array>();
    if (a == nullptr || a->dimensions() == 0) refuse_kind(what, sequence, "a tuple of arrays");
    const std::span<const std::ptrdiff_t> shape(a->shape().begin(), a->dimensions());
    const std::span<const std::ptrdiff_t> strides(a->strides().begin(), a->dimensions());
    for (std::ptrdiff_t i = 0; i < shape[0]; ++i) {
        parts.push_back(
            a->view(extents(shape.subspan(1)), extents(strides.subspan(1)), i * strides[0]));
    }
    return parts;
}

std::int64_t integer_from(const value& from, std::string_view what) {
    if (const auto* i = from.as<std::int64_t>()) return *i;
    if (const auto* b = from.as<bool>()) return *b ? 1 : 0;
    const auto* a = from.as<array>();
    if (a == nullptr || a->size() != 1 || is_float(a->type())) {
        refuse_kind(what, from, "an integer");
    }
    return *converted(*a, dtype::int64).data<std::int64_t>();
}

std::optional<std::int64_t> optional_integer_from(const value& from, std::string_view what) {
    if (from.is_none()) return std::nullopt;
    return integer_from(from, what);
}

double number_from(const value& from, std::string_view what) {
    if (const auto* d = from.as<double>()) return *d;
    if (const auto* a = from.as<array>(); a != nullptr && a->size() == 1) {
        return *converted(*a, dtype::float64).data<double>();
    }
    if (!from.is<bool>() && !from.is<std::int64_t>()) refuse_kind(what, from, "a number");
    return static_cast<double>(integer_from(from, what));
}

std::string word_from(const value& from, std::string_view what) {
    if (const auto* s = from.as<std::string>()) return *s;
    refuse_kind(what, from, "a string");
}

std::vector<std::int64_t> integers_from(const value& from, std::string_view what) {
    std::vector<std::int64_t> found;
    if (const auto* t = from.as<tuple>()) {
        for (const value& each : **t) {
            found.push_back(integer_from(each, what));
        }
        return found;
    }
    const auto* a = from.as<array>();
    if (a == nullptr || a->dimensions() == 0) return {integer_from(from, what)};
    if (a->dimensions() > 1 || is_float(a->type())) refuse_kind(what, from, "a list of integers");
    const array whole = contiguous(converted(*a, dtype::int64));
    const auto* first = whole.data<std::int64_t>();
    found.assign(first, first + whole.size());
    return found;
}

extents shape_from(const value& from) {
    extents shape;
    for (const std::int64_t length : integers_from(from, "shape")) {
        if (length < 0) throw std::invalid_argument("negative dimensions are not allowed");
        shape.push_back(length);
    }
    return shape;
}

dtype dtype_from(const value& from, dtype otherwise) {
    if (from.is_none()) return otherwise;
    if (const auto* t = from.as<dtype>()) return *t;
    if (const auto* name = from.as<std::string>()) {
        if (const auto found = dtype_named(*name)) return *found;
        throw type_error("data type '" + *name +
                         "' not understood: bool, int32, int64, float32 or float64");
    }
    refuse_kind("dtype", from, "a type: bool, int32, int64, float32 or float64");
}

std::size_t axis_in(std::int64_t axis, std::size_t dimensions) {
    const auto count = static_cast<std::int64_t>(dimensions);
    if (axis < -count || axis >= count) {
        throw std::invalid_argument("axis " + std::to_string(axis) +
                                    " is out of bounds for array of dimension " +
                                    std::to_string(dimensions));
    }
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

dtype type_of(const value& of) {
    const auto* a = of.as<array>();
    return a != nullptr ? a->type() : array_from(of, "object").type();
}

value tuple_of(std::vector<value> parts) {
    return tuple(std::make_shared<const values>(std::move(parts)));
}

}  // namespace quern::arrays::detail
