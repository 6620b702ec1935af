// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of primitives that make, join, sort and multiply arrays: arrays from lists,
// lists from arrays, and calls of primitives.
#pragma once

#include "unit/scheduler/on_runtime.hpp"

#include <quern/arrays/primitive.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern_test {

using quern::arrays::array;
using quern::arrays::call;
using quern::arrays::dtype;
using quern::arrays::extents;
using quern::arrays::value;

using reals = std::vector<double>;
using wholes = std::vector<std::int64_t>;

/// Python's int.
inline value whole(std::int64_t of) { return of; }

/// Bytes for booleans, which std::vector packs.
template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, char, T>;

template <class T>
array filled_array(const extents& shape, const std::vector<stored<T>>& elements) {
    array made(quern::arrays::dtype_of<T>, shape);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        made.data<T>()[i] = static_cast<T>(elements[i]);
    }
    return made;
}

/// One dimension of float64.
inline array line(const std::vector<double>& elements) {
    return filled_array<double>({static_cast<std::ptrdiff_t>(elements.size())}, elements);
}
inline array whole_line(const std::vector<std::int64_t>& elements) {
    return filled_array<std::int64_t>({static_cast<std::ptrdiff_t>(elements.size())}, elements);
}
inline array matrix(std::ptrdiff_t rows, std::ptrdiff_t columns,
                    const std::vector<double>& elements) {
    return filled_array<double>({rows, columns}, elements);
}

/// i * 7 % 11 - 5 and so on: small whole numbers in no order.
inline array pattern(const extents& shape, std::int64_t seed = 0) {
    array made(dtype::float64, shape);
    for (std::ptrdiff_t i = 0; i < made.size(); ++i) {
        made.data<double>()[i] = static_cast<double>((i * 7919 + seed * 104729) % 1009 % 17 - 8);
    }
    return made;
}

inline const array& array_in(const value& of) {
    const auto* a = of.as<array>();
    if (a == nullptr) throw std::logic_error("not an array: " + quern::arrays::describe(of));
    return *a;
}
inline const array& part(const value& of, std::size_t i) {
    return array_in((**of.as<quern::arrays::tuple>())[i]);
}
inline std::size_t parts(const value& of) { return (*of.as<quern::arrays::tuple>())->size(); }
inline value list(std::vector<value> of) {
    return quern::arrays::tuple(std::make_shared<const quern::arrays::values>(std::move(of)));
}

/// The elements in C order.
template <class T = double>
std::vector<stored<T>> elements(const value& of) {
    const array& a = array_in(of);
    EXPECT_EQ(a.type(), quern::arrays::dtype_of<T>);
    std::vector<stored<T>> found;
    for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
        const std::byte* at = a.bytes();
        std::ptrdiff_t rest = i;
        for (std::size_t d = a.dimensions(); d-- > 0;) {
            at += rest % a.shape()[d] * a.strides()[d];
            rest /= a.shape()[d];
        }
        found.push_back(*reinterpret_cast<const T*>(at));
    }
    return found;
}

inline extents shape(const value& of) { return array_in(of).shape(); }

/// The same elements, columns first: strides that are not C's.
inline array by_columns(const array& a) {
    array turned(a.type(), {a.shape()[1], a.shape()[0]});
    const auto element = static_cast<std::ptrdiff_t>(quern::arrays::size_of(a.type()));
    array view = turned.view(a.shape(), {element, a.shape()[0] * element});
    for (std::ptrdiff_t i = 0; i < a.shape()[0]; ++i) {
        for (std::ptrdiff_t j = 0; j < a.shape()[1]; ++j) {
            turned.data<double>()[j * a.shape()[0] + i] = a.data<double>()[i * a.shape()[1] + j];
        }
    }
    return view;
}

template <class F>
std::string words_of(F&& f) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace quern_test
