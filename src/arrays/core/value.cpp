// SPDX-License-Identifier: BSL-1.0
#include <quern/arrays/value.hpp>

#include "core/text.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace quern::arrays {

namespace {

template <class T>
bool is_not_zero(const array& a) {
    return *a.data<T>() != T{};
}

bool truth_of_array(const array& a) {
    if (a.size() == 0) {
        throw std::invalid_argument(
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an "
            "array is not empty.");
    }
    if (a.size() > 1) {
        throw std::invalid_argument(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or "
            "a.all()");
    }
    switch (a.type()) {
        case dtype::boolean:
            return is_not_zero<std::uint8_t>(a);
        case dtype::int32:
            return is_not_zero<std::int32_t>(a);
        case dtype::int64:
            return is_not_zero<std::int64_t>(a);
        case dtype::float32:
            return is_not_zero<float>(a);
        case dtype::float64:
            break;
    }
    return is_not_zero<double>(a);
}

struct truth {
    bool operator()(none) const { return false; }
    bool operator()(bool b) const { return b; }
    bool operator()(std::int64_t n) const { return n != 0; }
    bool operator()(double x) const { return x != 0; }
    bool operator()(const std::string& s) const { return !s.empty(); }
    bool operator()(const array& a) const { return truth_of_array(a); }
    bool operator()(const tuple& t) const { return t && !t->empty(); }
    template <class T>
    bool operator()(const T&) const {
        return true;
    }
};

std::string text_of_bound(const std::optional<std::int64_t>& bound) {
    return bound ? std::to_string(*bound) : std::string();
}

struct description {
    std::string operator()(none) const { return "None"; }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(std::int64_t n) const { return std::to_string(n); }
    std::string operator()(double x) const {
        char text[40];
        std::snprintf(text, sizeof text, "%.12g", x);
        return text;
    }
    std::string operator()(const std::string& s) const { return "'" + s + "'"; }
    std::string operator()(const slice& s) const {
        std::string text = text_of_bound(s.start) + ":" + text_of_bound(s.stop);
        return "slice " + (s.step ? text + ":" + std::to_string(*s.step) : text);
    }
    std::string operator()(ellipsis) const { return "..."; }
    std::string operator()(dtype d) const { return "dtype " + std::string(name_of(d)); }
    std::string operator()(const array& a) const {
        return "array of " + std::string(name_of(a.type())) + ", shape " +
               detail::text_of(a.shape());
    }
    std::string operator()(const tuple& t) const {
        return "tuple of " + std::to_string(t ? t->size() : 0);
    }
    std::string operator()(const foreign&) const { return "an object"; }
};

}  // namespace

namespace detail {

std::string text_of(const extents& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i > 0 ? "," : "") + std::to_string(shape[i]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace detail

bool truth_of(const value& of) {
    return std::visit(truth(), static_cast<const value::variant&>(of));
}

std::string describe(const value& of) {
    return std::visit(description(), static_cast<const value::variant&>(of));
}

}  // namespace quern::arrays
