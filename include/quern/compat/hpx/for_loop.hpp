// SPDX-License-Identifier: BSL-1.0
// hpx::experimental::for_loop and similar functions: loops over indices or iterators, with
// reductions and inductions among the arguments of the body.
#pragma once

#include <quern/compat/hpx/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hpx::experimental {

/// The body gets a reference to a part, which begins as the identity. After the loop the operation
/// combines the parts and the variable.
template <class T, class Op>
struct reduction_object {
    T& variable;
    T identity;
    Op op;
};
template <class T, class Op>
reduction_object<T, Op> reduction(T& variable, const T& identity, Op op) {
    return {variable, identity, std::move(op)};
}
template <class T>
auto reduction_plus(T& v) {
    return reduction(v, T(), std::plus<>());
}
template <class T>
auto reduction_multiplies(T& v) {
    return reduction(v, T(1), std::multiplies<>());
}
template <class T>
auto reduction_bit_and(T& v) {
    return reduction(v, T(~T()), std::bit_and<>());
}
template <class T>
auto reduction_bit_or(T& v) {
    return reduction(v, T(), std::bit_or<>());
}
template <class T>
auto reduction_bit_xor(T& v) {
    return reduction(v, T(), std::bit_xor<>());
}
template <class T>
auto reduction_min(T& v) {
    return reduction(v, T(v), [](const T& a, const T& b) { return std::min(a, b); });
}
template <class T>
auto reduction_max(T& v) {
    return reduction(v, T(v), [](const T& a, const T& b) { return std::max(a, b); });
}

/// The body gets the value that the variable would have in a serial loop.
template <class T, class Stride>
struct induction_object {
    T first;
    Stride stride;
    std::remove_reference_t<T>* variable;  ///< null: not set at the end
};
template <class T, class Stride = int>
auto induction(T&& value, Stride stride = 1) {
    using plain = std::remove_cvref_t<T>;
    if constexpr (std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>) {
        return induction_object<plain, Stride>{value, stride, &value};
    } else {
        return induction_object<plain, Stride>{value, stride, nullptr};
    }
}

namespace detail {

/// The value of a loop argument in iteration i, and after the last one.
template <class T, class Op>
T part_of(const reduction_object<T, Op>& r, std::size_t) {
    return r.identity;
}
template <class T, class Stride>
T part_of(const induction_object<T, Stride>& in, std::size_t i) {
    return static_cast<T>(in.first + static_cast<std::ptrdiff_t>(i) * in.stride);
}
template <class T, class Op>
T joined(const reduction_object<T, Op>& r, T&& a, T&& b) {
    return r.op(std::forward<T>(a), std::forward<T>(b));
}
template <class T, class Stride>
T joined(const induction_object<T, Stride>&, T&&, T&& b) {
    return std::forward<T>(b);
}
template <class T, class Op>
void finish_part(const reduction_object<T, Op>& r, T&& all, std::size_t) {
    r.variable = r.op(r.variable, std::forward<T>(all));
}
template <class T, class Stride>
void finish_part(const induction_object<T, Stride>& in, T&&, std::size_t n) {
    if (in.variable != nullptr) {
        *in.variable = part_of(in, n);
    }
}

template <class Index>
Index index_at(Index first, std::size_t i, std::ptrdiff_t stride) {
    if constexpr (std::is_integral_v<Index>) {
        return static_cast<Index>(first +
                                  static_cast<Index>(static_cast<std::ptrdiff_t>(i) * stride));
    } else {
        return std::next(first, static_cast<std::ptrdiff_t>(i) * stride);
    }
}

template <class Index>
std::size_t steps(Index first, Index last, std::ptrdiff_t stride) {
    const std::ptrdiff_t length = [&] {
        if constexpr (std::is_integral_v<Index>) {
            return static_cast<std::ptrdiff_t>(last) - static_cast<std::ptrdiff_t>(first);
        } else {
            return static_cast<std::ptrdiff_t>(std::distance(first, last));
        }
    }();
    const std::ptrdiff_t whole = stride > 0 ? length + stride - 1 : length + stride + 1;
    return whole / stride > 0 ? static_cast<std::size_t>(whole / stride) : 0;
}

/// `args` are the reductions and inductions, then the body.
template <class Policy, class Index, class Args, std::size_t... Part>
auto run_loop(const Policy& how, Index first, std::size_t n, std::ptrdiff_t stride, Args args,
              std::index_sequence<Part...>) {
    return hpx::detail::run_under(how, [=] {
        constexpr bool k_parallel = Policy::k_parallel;
        const auto& body = std::get<sizeof...(Part)>(args);
        if constexpr (sizeof...(Part) == 0) {
            hpx::detail::for_indices<k_parallel>(
                how, n, [&](std::size_t i) { std::invoke(body, index_at(first, i, stride)); });
        } else {
            using parts = std::tuple<std::decay_t<decltype(part_of(std::get<Part>(args), 0))>...>;
            parts all = hpx::detail::reduce_indices<k_parallel>(
                how, n, parts(part_of(std::get<Part>(args), 0)...),
                [&](std::size_t i) {
                    parts own(part_of(std::get<Part>(args), i)...);
                    std::invoke(body, index_at(first, i, stride), std::get<Part>(own)...);
                    return own;
                },
                [&](parts a, parts b) {
                    return parts(joined(std::get<Part>(args), std::move(std::get<Part>(a)),
                                        std::move(std::get<Part>(b)))...);
                });
            (finish_part(std::get<Part>(args), std::move(std::get<Part>(all)), n), ...);
        }
    });
}

template <class Policy, class Index, class... Args>
auto loop(const Policy& how, Index first, std::size_t n, std::ptrdiff_t stride, Args&&... args) {
    return run_loop(how, first, n, stride,
                    std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...),
                    std::make_index_sequence<sizeof...(Args) - 1>());
}

}  // namespace detail

template <hpx::detail::policy Policy, class Index, class... Args>
auto for_loop(Policy&& how, std::type_identity_t<Index> first, Index last, Args&&... args) {
    return detail::loop(how, Index(first), detail::steps(Index(first), last, 1), 1,
                        std::forward<Args>(args)...);
}
template <hpx::detail::policy Policy, class Index, class Size, class... Args>
auto for_loop_n(Policy&& how, Index first, Size n, Args&&... args) {
    return detail::loop(how, first, static_cast<std::size_t>(n), 1, std::forward<Args>(args)...);
}
template <hpx::detail::policy Policy, class Index, class Stride, class... Args>
auto for_loop_strided(Policy&& how, std::type_identity_t<Index> first, Index last, Stride stride,
                      Args&&... args) {
    const auto step = static_cast<std::ptrdiff_t>(stride);
    return detail::loop(how, Index(first), detail::steps(Index(first), last, step), step,
                        std::forward<Args>(args)...);
}
template <hpx::detail::policy Policy, class Index, class Size, class Stride, class... Args>
auto for_loop_n_strided(Policy&& how, Index first, Size n, Stride stride, Args&&... args) {
    return detail::loop(how, first, static_cast<std::size_t>(n),
                        static_cast<std::ptrdiff_t>(stride), std::forward<Args>(args)...);
}
template <class Index, class... Args>
    requires(!hpx::detail::policy<Index>)
void for_loop(std::type_identity_t<Index> first, Index last, Args&&... args) {
    hpx::experimental::for_loop(execution::seq, first, last, std::forward<Args>(args)...);
}

}  // namespace hpx::experimental

namespace hpx {
using experimental::for_loop;
using experimental::for_loop_n;
using experimental::for_loop_strided;
namespace parallel {
using experimental::for_loop;
using experimental::for_loop_n;
using experimental::induction;
using experimental::reduction;
using experimental::reduction_plus;
}  // namespace parallel
}  // namespace hpx
