// SPDX-License-Identifier: BSL-1.0
// min_element, max_element and minmax_element.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

namespace detail {

/// choose(first, last) of the whole range from that of its chunks: the results of two successive
/// ones are joined by join(left, right). The result of an empty range is `of_none`.
template <class Policy, class It, class Result, class Choose, class Join>
QUERN_ALWAYS_INLINE auto choose_element(const Policy& policy, It first, It last, Result of_none,
                                        std::size_t begin_with, Choose choose, Join join) {
    return detail::run_over<It>(policy,
                                [first, last, of_none, begin_with, choose = std::move(choose),
                                 join = std::move(join)](auto how) mutable -> Result {
                                    if constexpr (how.k_is_parallel) {
                                        if (first == last) {
                                            return of_none;
                                        }
                                        return detail::reduce_chunks(
                                            how, detail::length(first, last),
                                            [&](std::size_t i, std::size_t end) -> Result {
                                                return choose(detail::at(first, i),
                                                              detail::at(first, end));
                                            },
                                            join, begin_with);
                                    } else {
                                        return choose(first, last);
                                    }
                                });
}

template <class Less, class It>
inline constexpr std::size_t k_begin_to_choose =
    std::is_same_v<Less, std::less<>> ? k_begin_with_elements<It> : 1;

}  // namespace detail

/// The first of the least elements by less(a, b); `last` of an empty range. Policies, errors,
/// thread safety, cost: as for_each.
///
///     auto least = quern::min_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto min_element(Policy&& policy, It first, It last, Less less = {}) {
    return detail::choose_element(
        policy, first, last, last, detail::k_begin_to_choose<Less, It>,
        [less](auto i, auto end) mutable {
            return std::min_element(i, end, detail::for_chunk(less));
        },
        [less](It left, It right) mutable { return less(*right, *left) ? right : left; });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto min_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::min_element(policy, std::ranges::begin(range), std::ranges::end(range), less);
}

/// The first of the greatest elements; otherwise as min_element.
///
///     auto greatest = quern::max_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto max_element(Policy&& policy, It first, It last, Less less = {}) {
    return detail::choose_element(
        policy, first, last, last, detail::k_begin_to_choose<Less, It>,
        [less](auto i, auto end) mutable {
            return std::max_element(i, end, detail::for_chunk(less));
        },
        [less](It left, It right) mutable { return less(*left, *right) ? right : left; });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto max_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::max_element(policy, std::ranges::begin(range), std::ranges::end(range), less);
}

/// The first of the least and the last of the greatest elements; otherwise as min_element.
///
///     auto [least, greatest] = quern::minmax_element(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto minmax_element(Policy&& policy, It first, It last, Less less = {}) {
    using both = std::pair<It, It>;
    return detail::choose_element(
        policy, first, last, both(last, last), detail::k_begin_to_choose<Less, It>,
        [less](auto i, auto end) mutable {
            return std::minmax_element(i, end, detail::for_chunk(less));
        },
        [less](both left, both right) mutable {
            return both(less(*right.first, *left.first) ? right.first : left.first,
                        less(*right.second, *left.second) ? left.second : right.second);
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto minmax_element(Policy&& policy, Range&& range, Less less = {}) {
    return quern::minmax_element(policy, std::ranges::begin(range), std::ranges::end(range), less);
}

}  // namespace quern
