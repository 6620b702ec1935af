// SPDX-License-Identifier: BSL-1.0
// min_element, max_element and minmax_element.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// Orders in which the best of numbers is found by the processor's own instructions.
template <class Less, class It>
inline constexpr bool k_is_number_order =
    random_access<It>&& std::is_arithmetic_v<std::iter_value_t<It>>&&
        same_as_one_of<Less, std::less<>, std::greater<>, std::less<std::iter_value_t<It>>,
                       std::greater<std::iter_value_t<It>>>;

template <class Less, class It>
inline constexpr std::size_t k_begin_to_choose = k_is_number_order<Less, It> ? k_begin_with<> : 1;

/// choose(less, first, last) of the whole range from that of its chunks: the results of two
/// successive ones are joined by join(less, left, right). The result of an empty range is
/// `of_none`.
template <class Policy, class It, class Result, class Less, class Choose, class Join>
QUERN_ALWAYS_INLINE auto choose_element(const Policy& policy, It first, It last, Result of_none,
                                        Less less, Choose choose, Join join) {
    return detail::run_over<It>(
        policy,
        [first, last, of_none, less = std::move(less), choose, join](auto how) mutable -> Result {
            const auto chosen = [&](It i, It end) -> Result {
                return detail::as_given(
                    choose(less, detail::as_standard(i), detail::as_standard(end)));
            };
            if constexpr (how.k_is_parallel) {
                if (first == last) {
                    return of_none;
                }
                return detail::reduce_chunks(
                    how, detail::length(first, last),
                    [&](std::size_t i, std::size_t end) -> Result {
                        return chosen(detail::at(first, i), detail::at(first, end));
                    },
                    [&](Result left, Result right) -> Result { return join(less, left, right); },
                    k_begin_to_choose<Less, It>);
            } else {
                return chosen(first, last);
            }
        });
}

/// The best value of [i, end), by is_better(a, b), without its place. Requires: i != end.
template <class It, class IsBetter>
std::iter_value_t<It> best_value(It i, It end, IsBetter is_better) {
    using T = std::iter_value_t<It>;
    constexpr std::size_t k_lanes = 8;  // several comparisons at the same time
    T best[k_lanes];
    std::fill(best, best + k_lanes, *i);
    for (; end - i >= static_cast<std::ptrdiff_t>(k_lanes); i += k_lanes) {
        for (std::size_t k = 0; k < k_lanes; ++k) {
            const T value = *detail::at(i, k);
            best[k] = is_better(value, best[k]) ? value : best[k];
        }
    }
    for (; i != end; ++i) {
        const T value = *i;
        best[0] = is_better(value, best[0]) ? value : best[0];
    }
    for (std::size_t k = 1; k < k_lanes; ++k) {
        best[0] = is_better(best[k], best[0]) ? best[k] : best[0];
    }
    return best[0];
}

/// The first of the best numbers, or the last one. Looks for the value first and for its place only
/// in pieces with a better value. Requires: first != last.
template <bool IsLast, class It, class IsBetter>
It best_number(It first, It last, IsBetter is_better) {
    constexpr std::ptrdiff_t k_piece = 1024;  // stays in the first-level cache
    It best = first;
    for (It end = first; first != last; first = end) {
        end = last - first > k_piece ? first + k_piece : last;
        const auto value = detail::best_value(first, end, is_better);
        if (IsLast ? !is_better(*best, value) : is_better(value, *best)) {
            if constexpr (IsLast) {
                best = end - 1;
                while (is_better(value, *best)) {
                    --best;
                }
            } else {
                best = first;
                while (is_better(value, *best)) {
                    ++best;
                }
            }
        }
    }
    return best;
}

/// The serial algorithms.
template <class It, class Less>
It min_of(It i, It end, Less& less) {
    if constexpr (k_is_number_order<Less, It>) {
        return i == end ? end : detail::best_number<false>(i, end, less);
    } else {
        return std::min_element(i, end, detail::for_chunk(less));
    }
}
template <class It, class Less>
It max_of(It i, It end, Less& less) {
    if constexpr (k_is_number_order<Less, It>) {
        const auto greater = [less](const auto& a, const auto& b) { return less(b, a); };
        return i == end ? end : detail::best_number<false>(i, end, greater);
    } else {
        return std::max_element(i, end, detail::for_chunk(less));
    }
}
template <class It, class Less>
std::pair<It, It> minmax_of(It i, It end, Less& less) {
    if constexpr (k_is_number_order<Less, It>) {
        const auto greater = [less](const auto& a, const auto& b) { return less(b, a); };
        return i == end ? std::pair(end, end)
                        : std::pair(detail::best_number<false>(i, end, less),
                                    detail::best_number<true>(i, end, greater));
    } else {
        return std::minmax_element(i, end, detail::for_chunk(less));
    }
}

}  // namespace detail

/// The first of the least elements by less(a, b); `last` of an empty range. Policies, errors,
/// thread safety, cost: as for_each.
///
///     auto least = quern::min_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto min_element(Policy&& policy, It first, It last, Less less = {}) {
    return detail::choose_element(
        policy, first, last, last, std::move(less),
        [](Less& by, auto i, auto end) { return detail::min_of(i, end, by); },
        [](Less& by, It left, It right) { return by(*right, *left) ? right : left; });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto min_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::min_element(policy, detail::begin_of<Policy, Range>(range),
                              std::ranges::end(range), std::move(less));
}

/// The first of the greatest elements; otherwise as min_element.
///
///     auto greatest = quern::max_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto max_element(Policy&& policy, It first, It last, Less less = {}) {
    return detail::choose_element(
        policy, first, last, last, std::move(less),
        [](Less& by, auto i, auto end) { return detail::max_of(i, end, by); },
        [](Less& by, It left, It right) { return by(*left, *right) ? right : left; });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto max_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::max_element(policy, detail::begin_of<Policy, Range>(range),
                              std::ranges::end(range), std::move(less));
}

/// The first of the least and the last of the greatest elements; otherwise as min_element.
///
///     auto [least, greatest] = quern::minmax_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto minmax_element(Policy&& policy, It first, It last, Less less = {}) {
    using both = std::pair<It, It>;
    return detail::choose_element(
        policy, first, last, both(last, last), std::move(less),
        [](Less& by, auto i, auto end) { return detail::minmax_of(i, end, by); },
        [](Less& by, both left, both right) {
            return both(by(*right.first, *left.first) ? right.first : left.first,
                        by(*right.second, *left.second) ? left.second : right.second);
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto minmax_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::minmax_element(policy, detail::begin_of<Policy, Range>(range),
                                 std::ranges::end(range), std::move(less));
}

}  // namespace quern
