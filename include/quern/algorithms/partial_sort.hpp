// SPDX-License-Identifier: BSL-1.0
// nth_element, partial_sort and partial_sort_copy: the least elements of a range.
#pragma once

#include <quern/algorithms/detail/partial_sorting.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

/// Puts the element into the place `nth` that would be there if the range were sorted by
/// less(a, b): no element before it is greater, no element behind it is less. Nothing happens if
/// nth is `last`.
///
/// Errors: the first exception of a comparison; the range then contains the same elements in some
/// order. Policies, thread safety: as for_each.
/// Cost: O(n) comparisons and swaps if no order of the elements is chosen against the algorithm,
/// else O(n log n).
///
///     quern::nth_element(quern::par, x.begin(), x.begin() + 500, x.end());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto nth_element(Policy&& policy, It first, It nth, It last, Less less = {}) {
    return detail::run_over<It>(
        policy, [first, nth, last, less = std::move(less)](auto how) mutable {
            if (nth == last) {
                return;
            }
            detail::with_forks(how, detail::length(first, last), detail::k_begin_to_sort<It>,
                               detail::k_sort_grain, [&](const detail::forks& where) {
                                   detail::select_element(where, detail::as_pointer(first),
                                                          detail::as_pointer(nth),
                                                          detail::as_pointer(last), less);
                               });
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto nth_element(Policy&& policy, Range&& range, detail::iterator_of<Range> nth,
                                     Less less = {}) {
    return quern::nth_element(policy, detail::begin_of<Policy, Range>(range), nth,
                              std::ranges::end(range), std::move(less));
}

/// Moves the least elements to [first, middle), sorted by less(a, b); the others follow in any
/// order. As nth_element.
/// Cost: as nth_element and a sort of the least ones; if these are few, a pass with a heap.
///
///     quern::partial_sort(quern::par, x.begin(), x.begin() + 10, x.end());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto partial_sort(Policy&& policy, It first, It middle, It last,
                                      Less less = {}) {
    return detail::run_over<It>(
        policy, [first, middle, last, less = std::move(less)](auto how) mutable {
            const std::size_t n = detail::length(first, last);
            const std::size_t k = detail::length(first, middle);
            detail::with_forks(how, n, detail::k_begin_to_sort<It>, detail::k_sort_grain,
                               [&](const detail::forks& where) {
                                   detail::sort_least(where, detail::as_pointer(first), k, n, less);
                               });
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto partial_sort(Policy&& policy, Range&& range,
                                      detail::iterator_of<Range> middle, Less less = {}) {
    return quern::partial_sort(policy, detail::begin_of<Policy, Range>(range), middle,
                               std::ranges::end(range), std::move(less));
}

/// Copies the least elements to [first2, last2), sorted by less(a, b): as many as there are, or as
/// have room. Returns the end of the copies. Policies, errors, thread safety: as for_each.
/// Cost: as partial_sort. Memory for a copy of the range, or, if the copies are few, for so many
/// per part of the range.
///
///     quern::partial_sort_copy(quern::par, x.begin(), x.end(), y.begin(), y.begin() + 10);
template <execution_policy Policy, std::input_iterator It, std::random_access_iterator It2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto partial_sort_copy(Policy&& policy, It first, It last, It2 first2,
                                           It2 last2, Less less = {}) {
    return detail::run_over<It, It2>(
        policy, [first, last, first2, last2, less = std::move(less)](auto how) mutable -> It2 {
            if constexpr (how.k_is_parallel && std::copy_constructible<std::iter_value_t<It>>) {
                const std::size_t n = detail::length(first, last);
                const std::size_t k = std::min(n, detail::length(first2, last2));
                if (k != 0 && detail::is_shared(how)) {
                    detail::with_forks(how, n, detail::k_begin_to_sort<It>, detail::k_sort_grain,
                                       [&](const detail::forks& where) {
                                           detail::copy_least(where, detail::as_pointer(first), n,
                                                              first2, k, less);
                                       });
                    return detail::at(first2, k);
                }
            }
            return detail::copy_least_here(first, last, first2, last2, less);
        });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto partial_sort_copy(Policy&& policy, Range&& range, Range2&& range2,
                                           Less less = {}) {
    return quern::partial_sort_copy(
        policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
        detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2), std::move(less));
}

}  // namespace quern
