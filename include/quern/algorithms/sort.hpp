// SPDX-License-Identifier: BSL-1.0
// sort, stable_sort and sort_by_key.
#pragma once

#include <quern/algorithms/detail/key_value_iterator.hpp>
#include <quern/algorithms/detail/merge_sort.hpp>
#include <quern/algorithms/detail/parallel_quick_sort.hpp>

#include <functional>
#include <iterator>
#include <utility>

namespace quern {

/// Sorts the elements by less(a, b). Elements that are equal may change their order.
///
/// Errors: the first exception of a comparison; the range then contains the same elements in some
/// order. Policies, thread safety: as for_each.
/// Cost: O(n log n) comparisons and swaps, no memory; linear if the range is sorted, in descending
/// order, or has few distinct elements. The first partitions are done by all workers.
/// Source: detail/quick_sort.hpp.
///
///     quern::sort(quern::par, x.begin(), x.end());
///     quern::sort(quern::par, x, std::greater<>());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto sort(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(policy, [first, last, less = std::move(less)](auto how) mutable {
        detail::sort_range(how, detail::as_pointer(first), detail::length(first, last), less);
    });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto sort(Policy&& policy, Range&& range, Less less = {}) {
    return quern::sort(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                       std::move(less));
}

/// Sorts the elements by less(a, b); those that are equal keep their order. As sort, but:
/// Cost: O(n log n) comparisons and moves, memory for as many elements. Without that memory, and if
/// moving an element may throw, O(n log^2 n) moves.
///
///     quern::stable_sort(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto stable_sort(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(policy, [first, last, less = std::move(less)](auto how) mutable {
        const std::size_t n = detail::length(first, last);
        detail::with_forks(how, n, detail::k_begin_to_sort<It>, detail::k_sort_grain,
                           [&](const detail::forks& where) {
                               detail::stable_sort_elements(where, detail::as_pointer(first), n,
                                                            less);
                           });
    });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto stable_sort(Policy&& policy, Range&& range, Less less = {}) {
    return quern::stable_sort(policy, detail::begin_of<Policy, Range>(range),
                              std::ranges::end(range), std::move(less));
}

/// Sorts keys by less(a, b), and moves the values from `values` on together with their keys.
/// Returns the ends of both. As sort; from HPX.
///
///     quern::sort_by_key(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::random_access_iterator It, std::random_access_iterator It2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto sort_by_key(Policy&& policy, It first, It last, It2 values,
                                     Less less = {}) {
    return detail::run_over<It, It2>(
        policy,
        [first, last, values, less = std::move(less)](auto how) mutable -> std::pair<It, It2> {
            const std::size_t n = detail::length(first, last);
            detail::less_by_key<Less> by_key{less};
            detail::sort_range(
                how,
                detail::key_value_iterator(detail::as_pointer(first), detail::as_pointer(values)),
                n, by_key);
            return {last, detail::at(values, n)};
        });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto sort_by_key(Policy&& policy, Range&& keys, Range2&& values,
                                     Less less = {}) {
    return quern::sort_by_key(policy, detail::begin_of<Policy, Range>(keys), std::ranges::end(keys),
                              detail::begin_of<Policy, Range2>(values), std::move(less));
}

}  // namespace quern
