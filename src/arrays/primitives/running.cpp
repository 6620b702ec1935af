// SPDX-License-Identifier: BSL-1.0
#include "primitives/running.hpp"

#include "kernels/tiles.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace quern::arrays::detail {

namespace {

/// The lines of an array along one axis, in C order of the other dimensions.
struct lines {
    const array& of;
    std::size_t axis;

    std::ptrdiff_t length() const noexcept { return of.shape()[axis]; }
    std::ptrdiff_t stride() const noexcept { return of.strides()[axis]; }
    std::ptrdiff_t count() const noexcept { return length() == 0 ? 0 : of.size() / length(); }
    std::byte* at(std::ptrdiff_t index) const noexcept {
        std::byte* first = of.bytes();
        for (std::size_t d = of.dimensions(); d-- > 0;) {
            if (d == axis) continue;
            first += index % of.shape()[d] * of.strides()[d];
            index /= of.shape()[d];
        }
        return first;
    }
    /// Calls f(index of the line) for all, at the same time where workers are free.
    template <class F>
    void for_each(const F& f) const {
        const std::ptrdiff_t tile =
            std::max<std::ptrdiff_t>(1, k_tile / std::max<std::ptrdiff_t>(1, length()));
        for_tiles(count(), tile, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                f(i);
            }
        });
    }
};

template <class T>
T element_at(const std::byte* first, std::ptrdiff_t index, std::ptrdiff_t stride) noexcept {
    return *reinterpret_cast<const T*>(first + index * stride);
}

template <class T>
bool is_no_number(T value) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
        return std::isnan(value);
    } else {
        return false;
    }
}

/// Whether b is better than a that comes before it. The first number that is none is the best.
template <bool Least, class T>
bool is_better(T b, T a) noexcept {
    if (detail::is_no_number(a)) return false;
    return detail::is_no_number(b) || (Least ? b < a : b > a);
}

/// The place of the best in [begin, end): long ranges are halved.
template <bool Least, class T>
std::ptrdiff_t best_in(const std::byte* first, std::ptrdiff_t begin, std::ptrdiff_t end,
                       std::ptrdiff_t stride) {
    if (end - begin > k_tile) {
        const std::ptrdiff_t middle = begin + (end - begin) / 2;
        std::ptrdiff_t a = 0;
        std::ptrdiff_t b = 0;
        fork_join([&] { b = best_in<Least, T>(first, middle, end, stride); },
                  [&] { a = best_in<Least, T>(first, begin, middle, stride); });
        const bool later =
            is_better<Least>(element_at<T>(first, b, stride), element_at<T>(first, a, stride));
        return later ? b : a;
    }
    std::ptrdiff_t best = begin;
    T best_element = element_at<T>(first, begin, stride);
    for (std::ptrdiff_t i = begin + 1; i < end; ++i) {
        const T next = element_at<T>(first, i, stride);
        if (!is_better<Least>(next, best_element)) continue;
        best = i;
        best_element = next;
    }
    return best;
}

/// The array and the axis; without an axis, all elements in one line.
std::pair<array, std::size_t> line_of(const value& a, const value& axis) {
    const array from = array_from(a, "a");
    if (axis.is_none()) return {flattened(from), 0};
    const std::size_t which =
        axis_in(integer_from(axis, "axis"), std::max<std::size_t>(1, from.dimensions()));
    return {from.dimensions() == 0 ? flattened(from) : from, which};
}

extents without_axis(const extents& shape, std::size_t axis, bool keeps) {
    extents result;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d != axis) {
            result.push_back(shape[d]);
        } else if (keeps) {
            result.push_back(1);
        }
    }
    return result;
}

template <bool Least>
value run_arg(std::span<const value> v, std::string_view name) {
    const auto [from, axis] = line_of(v[0], v[1]);
    const auto* const keeps = v[2].as<bool>();
    if (keeps == nullptr) throw type_error("keepdims: " + describe(v[2]) + " is not True or False");
    const lines in{from, axis};
    if (in.length() == 0) {
        throw std::invalid_argument("attempt to get " + std::string(name) +
                                    " of an empty sequence");
    }
    const std::size_t dimensions = array_from(v[0], "a").dimensions();
    const bool keeps_axis = *keeps && !v[1].is_none() && dimensions > 0;
    array to(dtype::int64, without_axis(from.shape(), axis, keeps_axis));
    with_element(from.type(), [&](auto* typed) {
        using T = std::remove_cvref_t<decltype(*typed)>;
        in.for_each([&](std::ptrdiff_t i) {
            to.data<std::int64_t>()[i] = best_in<Least, T>(in.at(i), 0, in.length(), in.stride());
        });
    });
    if (!*keeps || !v[1].is_none()) return to;
    extents ones;
    for (std::size_t d = 0; d < dimensions; ++d) {
        ones.push_back(1);
    }
    return to.view(ones, c_strides(dtype::int64, ones));
}

struct running_sum {
    template <class T>
    static T join(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
        } else {
            return a + b;
        }
    }
};

struct running_product {
    template <class T>
    static T join(T a, T b) noexcept {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        } else {
            return a * b;
        }
    }
};

template <class R>
value run_running(std::span<const value> v) {
    auto [from, axis] = line_of(v[0], v[1]);
    const dtype usual = is_float(from.type()) ? from.type() : dtype::int64;
    const dtype type = v[2].is_none() ? usual : dtype_from(v[2], usual);
    const array input = converted(from, type);
    array to(type, from.shape());
    const lines in{input, axis};
    const lines out{to, axis};
    with_element(type, [&](auto* typed) {
        using T = std::remove_cvref_t<decltype(*typed)>;
        in.for_each([&](std::ptrdiff_t i) {
            const std::byte* const first = in.at(i);
            std::byte* const result = out.at(i);
            T all{};
            for (std::ptrdiff_t j = 0; j < in.length(); ++j) {
                const T next = element_at<T>(first, j, in.stride());
                all = j == 0 ? next : R::join(all, next);
                *reinterpret_cast<T*>(result + j * out.stride()) = all;
            }
        });
    });
    return to;
}

}  // namespace

value run_argmin(std::span<const value> operands) { return run_arg<true>(operands, "argmin"); }
value run_argmax(std::span<const value> operands) { return run_arg<false>(operands, "argmax"); }
value run_cumsum(std::span<const value> operands) { return run_running<running_sum>(operands); }
value run_cumprod(std::span<const value> operands) {
    return run_running<running_product>(operands);
}

}  // namespace quern::arrays::detail
