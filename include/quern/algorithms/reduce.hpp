// SPDX-License-Identifier: BSL-1.0
// reduce, transform_reduce and reduce_deterministic. The reduction over an index range, with a stop
// token and no policy, is parallel_reduce (parallel_for.hpp).
#pragma once

#include <quern/algorithms/detail/chunked_loop.hpp>
#include <quern/algorithms/detail/fold.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// op(initial, fold of [0, n)), where value(i) is the i-th value.
template <class How, class T, class Value, class Op>
T reduce_values(const How& how, std::size_t n, T initial, const Value& value, Op& op) {
    if (n == 0) {
        return initial;
    }
    return static_cast<T>(
        op(std::move(initial),
           detail::reduce_chunks(
               how, n,
               [&](std::size_t i, std::size_t end) {
                   return detail::fold<T>(i, end, Value(value), op);
               },
               [&](T a, T b) { return static_cast<T>(op(std::move(a), std::move(b))); },
               k_begin_fold<T, Op, Value>)));
}

/// The elements of one block of reduce_deterministic. The value depends on it, so it is fixed: 8
/// KiB of doubles.
inline constexpr std::size_t k_deterministic_block = 1024;

/// The fold of fixed blocks, of which the values are then folded.
template <class How, class T, class Value, class Op>
T reduce_blocks(const How& how, std::size_t n, T initial, const Value& value, Op& op) {
    const std::size_t count = divide_up(n, k_deterministic_block);
    std::vector<std::optional<T>> blocks(count);
    detail::for_chunks(how, count, [&](std::size_t b, std::size_t end) {
        for (; b < end; ++b) {
            const std::size_t first = b * k_deterministic_block;
            blocks[b].emplace(detail::fold<T>(first, std::min(first + k_deterministic_block, n),
                                              Value(value), op));
        }
    });
    for (std::optional<T>& each : blocks) {
        initial = static_cast<T>(op(std::move(initial), std::move(*each)));
    }
    return initial;
}

}  // namespace detail

/// op(...op(initial, map(*first))..., map(*(last - 1))). Otherwise as reduce.
///
///     double norm2 = quern::transform_reduce(quern::par, x.begin(), x.end(), 0.0, std::plus<>{},
///                                            [](double e) { return e * e; });
template <execution_policy Policy, std::input_iterator It, class T, class Op, class Map>
    requires(!std::input_iterator<T>)
QUERN_ALWAYS_INLINE auto transform_reduce(Policy&& policy, It first, It last, T initial, Op op,
                                          Map map) {
    return detail::run_over<It>(
        policy,
        [first, last, initial = std::move(initial), op = std::move(op),
         map = std::move(map)](auto how) mutable -> T {
            if constexpr (detail::random_access<It>) {
                const detail::mapped_element<It, Map> value{first, &map};
                return detail::reduce_values(how, detail::length(first, last), std::move(initial),
                                             value, op);
            } else {
                for (; first != last; ++first) {
                    initial = static_cast<T>(op(std::move(initial), std::invoke(map, *first)));
                }
                return std::move(initial);
            }
        });
}

/// The same over the values map(*first, *first2), the sum of products by default.
///
///     double dot = quern::transform_reduce(quern::par, x.begin(), x.end(), y.begin(), 0.0);
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2, class T,
          class Op = std::plus<>, class Map = std::multiplies<>>
QUERN_ALWAYS_INLINE auto transform_reduce(Policy&& policy, It first, It last, It2 first2, T initial,
                                          Op op = {}, Map map = {}) {
    return detail::run_over<It, It2>(
        policy,
        [first, last, first2, initial = std::move(initial), op = std::move(op),
         map = std::move(map)](auto how) mutable -> T {
            if constexpr (detail::random_access<It> && detail::random_access<It2>) {
                const detail::mapped_pair<It, It2, Map> value{first, first2, &map};
                return detail::reduce_values(how, detail::length(first, last), std::move(initial),
                                             value, op);
            } else {
                for (; first != last; ++first, ++first2) {
                    initial =
                        static_cast<T>(op(std::move(initial), std::invoke(map, *first, *first2)));
                }
                return std::move(initial);
            }
        });
}
template <execution_policy Policy, detail::iterable Range, class T, class Op, class Map>
QUERN_ALWAYS_INLINE auto transform_reduce(Policy&& policy, Range&& range, T initial, Op op,
                                          Map map) {
    return quern::transform_reduce(policy, detail::begin_of<Policy, Range>(range),
                                   std::ranges::end(range), std::move(initial), std::move(op),
                                   std::move(map));
}

/// op(...op(initial, *first)..., *(last - 1)), where op is associative. Unlike the standard's, it
/// need not be commutative: the order is kept, except that sums and products of numbers with
/// std::plus and std::multiplies may be formed in any order. The grouping differs between runs, so
/// sums of floating-point numbers may differ in the last bits; see reduce_deterministic. T may be
/// move-only. Policies, errors, thread safety: as for_each.
/// Cost: one pass; op is called once per element.
///
///     double sum = quern::reduce(quern::par, x.begin(), x.end(), 0.0);
///     auto larger = [](double a, double b) { return a < b ? b : a; };
///     double most = quern::reduce(quern::par, x.begin(), x.end(), a, larger);
template <execution_policy Policy, std::input_iterator It, class T, class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto reduce(Policy&& policy, It first, It last, T initial, Op op = {}) {
    return quern::transform_reduce(policy, first, last, std::move(initial), std::move(op),
                                   std::identity());
}
template <execution_policy Policy, std::input_iterator It>
QUERN_ALWAYS_INLINE auto reduce(Policy&& policy, It first, It last) {
    return quern::reduce(policy, first, last, std::iter_value_t<It>{});
}
template <execution_policy Policy, detail::iterable Range, class T, class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto reduce(Policy&& policy, Range&& range, T initial, Op op = {}) {
    return quern::reduce(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                         std::move(initial), std::move(op));
}
template <execution_policy Policy, detail::iterable Range>
QUERN_ALWAYS_INLINE auto reduce(Policy&& policy, Range&& range) {
    return quern::reduce(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range));
}

/// As reduce, with a value that is bitwise the same for every policy, chunker and number of
/// workers: blocks of 1024 elements are folded, then their values, in order. HPX's
/// reduce_deterministic. Cost: as reduce, and memory for n / 1024 values.
///
///     double sum = quern::reduce_deterministic(quern::par, x.begin(), x.end(), 0.0);
template <execution_policy Policy, detail::random_access It, class T, class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto reduce_deterministic(Policy&& policy, It first, It last, T initial,
                                              Op op = {}) {
    return detail::run_over<It>(
        policy, [first, last, initial = std::move(initial), op = std::move(op)](auto how) mutable {
            std::identity same;
            const detail::mapped_element<It, std::identity> value{first, &same};
            return detail::reduce_blocks(how, detail::length(first, last), std::move(initial),
                                         value, op);
        });
}
template <execution_policy Policy, detail::iterable Range, class T, class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto reduce_deterministic(Policy&& policy, Range&& range, T initial,
                                              Op op = {}) {
    return quern::reduce_deterministic(policy, detail::begin_of<Policy, Range>(range),
                                       std::ranges::end(range), std::move(initial), std::move(op));
}

}  // namespace quern
