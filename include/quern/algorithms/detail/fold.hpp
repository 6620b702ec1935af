// SPDX-License-Identifier: BSL-1.0
// The fold of a chunk's values with an operation, as fast as the operation allows: for sums of
// numbers several partial sums at the same time. Used by the reductions, and by the scans where a
// worker looks ahead.
#pragma once

#include <quern/algorithms/detail/run_algorithm.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// Independent partial values of one chunk: a processor adds several of them at the same time.
inline constexpr std::size_t k_lanes = 8;

/// Whether partial values may be formed in any order: the operation is that of the language on
/// numbers. (The standard allows it for every operation of reduce; this library does not use that.)
template <class T, class Op>
inline constexpr bool k_any_order = std::is_arithmetic_v<T>&&
    same_as_one_of<Op, std::plus<>, std::plus<T>, std::multiplies<>, std::multiplies<T>>;

/// The i-th value of a reduction, given to use(value): what the map makes of a temporary element
/// may refer to it, so it ends before `use` returns an object. Copied into each fold, so that its
/// parts are in registers.
template <class It, class Map>
struct mapped_element {
    It first;
    Map* map;

    static constexpr bool k_is_cheap = std::is_same_v<Map, std::identity>;

    template <class Use>
    QUERN_ALWAYS_INLINE auto with(std::size_t i, Use&& use) const {
        return use(std::invoke(*map, *detail::at(first, i)));
    }
};
template <class It, class It2, class Map>
struct mapped_pair {
    It first;
    It2 second;
    Map* map;

    static constexpr bool k_is_cheap = std::is_same_v<Map, std::multiplies<>>;

    template <class Use>
    QUERN_ALWAYS_INLINE auto with(std::size_t i, Use&& use) const {
        return use(std::invoke(*map, *detail::at(first, i), *detail::at(second, i)));
    }
};

/// Iterations of a fold to begin with, see for_chunks.
template <class T, class Op, class Value>
inline constexpr std::size_t k_begin_fold =
    k_any_order<T, Op>&& Value::k_is_cheap ? k_begin_with<T> : 1;

/// The i-th value as a T.
template <class T, class Value>
QUERN_ALWAYS_INLINE T value_at(std::size_t i, const Value& value) {
    return value.with(i,
                      [](auto&& v) -> T { return static_cast<T>(std::forward<decltype(v)>(v)); });
}

/// op(before, the i-th value) as a T, which is no reference: `before` is moved.
template <class T, class Value, class Op>
QUERN_ALWAYS_INLINE T add_value(T&& before, std::size_t i, const Value& value, Op& op) {
    return value.with(i, [&](auto&& v) -> T {
        return static_cast<T>(op(std::move(before), std::forward<decltype(v)>(v)));  // NOLINT
    });
}

/// The fold in any order. Each lane is known by its number while compiling, so it is in a register.
template <class T, class Value, class Op, std::size_t... Lane>
T fold_lanes(std::size_t i, std::size_t last, const Value value, Op& op,
             std::index_sequence<Lane...>) {
    T lanes[] = {detail::value_at<T>(i + Lane, value)...};
    for (i += k_lanes; i + k_lanes <= last; i += k_lanes) {
        ((lanes[Lane] = detail::add_value<T>(std::move(lanes[Lane]), i + Lane, value, op)), ...);
    }
    T all = lanes[0];
    for (std::size_t lane = 1; lane < k_lanes; ++lane) {
        all = static_cast<T>(op(all, lanes[lane]));
    }
    for (; i < last; ++i) {
        all = detail::add_value<T>(std::move(all), i, value, op);
    }
    return all;
}

/// op(...op(value(i), value(i + 1))..., value(last - 1)). Requires: i < last.
template <class T, class Value, class Op>
T fold(std::size_t i, std::size_t last, const Value value, Op& op) {
    if constexpr (k_any_order<T, Op>) {
        if (last - i >= 2 * k_lanes) {
            return detail::fold_lanes<T>(i, last, value, op, std::make_index_sequence<k_lanes>());
        }
    }
    T result = detail::value_at<T>(i, value);
    for (++i; i < last; ++i) {
        result = detail::add_value<T>(std::move(result), i, value, op);
    }
    return result;
}

}  // namespace quern::detail
