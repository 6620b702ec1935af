// SPDX-License-Identifier: BSL-1.0
// merge and inplace_merge of sorted ranges.
#pragma once

#include <quern/algorithms/detail/merge_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// std::inplace_merge; in a vector of its own where libstdc++'s buffer would not do.
template <class It, class Less>
void merge_lists(It first, It middle, It last, Less& less) {
    if constexpr (k_is_usual<It>) {
        std::inplace_merge(detail::as_standard(first), detail::as_standard(middle),
                           detail::as_standard(last), detail::for_chunk(less));
    } else {
        std::vector<std::iter_value_t<It>> moved;
        const auto left = static_cast<std::size_t>(std::ranges::distance(first, middle));
        const auto n = left + static_cast<std::size_t>(std::ranges::distance(middle, last));
        moved.reserve(n);
        for (It i = first; i != last; ++i) {
            moved.emplace_back(std::ranges::iter_move(i));
        }
        kept_exception error;
        error.catch_from([&] {
            auto* const begin = moved.data();
            detail::merge_neighbours(forks{}, begin, begin + left, begin + n, less);
        });
        detail::move_elements(moved.begin(), moved.end(), first);
        error.rethrow();
    }
}

}  // namespace detail

/// Copies the elements of two ranges that are sorted by less(a, b) to `out`, sorted; where elements
/// are equal, those of the first range come first. `out` must not overlap the ranges. Returns the
/// end of the copies. Policies, errors, thread safety: as for_each.
/// Cost: one pass, and a binary search per 8192 elements.
///
///     quern::merge(quern::par, x.begin(), x.end(), y.begin(), y.end(), new_grid.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto merge(Policy&& policy, It first, It last, It2 first2, It2 last2, Out out,
                               Less less = {}) {
    return detail::run_over<It, It2, Out>(
        policy, [first, last, first2, last2, out, less = std::move(less)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const detail::sorted_pair in{detail::as_pointer(first), detail::as_pointer(last),
                                             detail::as_pointer(first2), detail::as_pointer(last2)};
                constexpr bool k_is_plain = detail::k_is_plain<It>;
                detail::with_forks(
                    how, in.size(), detail::k_begin_to_sort<It>,
                    k_is_plain ? detail::k_merge_grain : detail::k_merge_grain_of_objects,
                    [&](const detail::forks& where) {
                        detail::merge_copies(where, in, detail::as_pointer(out), less);
                    });
                return detail::at(out, in.size());
            } else {
                return detail::as_given(
                    std::merge(detail::as_standard(first), detail::as_standard(last),
                               detail::as_standard(first2), detail::as_standard(last2),
                               detail::as_standard(out), detail::for_chunk(less)));
            }
        });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto merge(Policy&& policy, Range&& range, Range2&& range2, Out out,
                               Less less = {}) {
    return quern::merge(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                        detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2), out,
                        std::move(less));
}

/// Merges the sorted ranges [first, middle) and [middle, last) into one; where elements are equal,
/// those of the first come first.
///
/// Errors: the first exception of a comparison; the range then contains the same elements in some
/// order. Policies, thread safety: as for_each.
/// Cost: two passes, memory for as many elements. Without that memory, and if moving an element may
/// throw, O(n log n) moves.
///
///     quern::inplace_merge(quern::par, x.begin(), x.begin() + 1000, x.end());
template <execution_policy Policy, std::bidirectional_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto inplace_merge(Policy&& policy, It first, It middle, It last,
                                       Less less = {}) {
    return detail::run_over<It>(
        policy, [first, middle, last, less = std::move(less)](auto how) mutable {
            if constexpr (std::random_access_iterator<It>) {
                detail::with_forks(how, detail::length(first, last), detail::k_begin_to_sort<It>,
                                   detail::k_sort_grain, [&](const detail::forks& where) {
                                       detail::merge_neighbours(where, detail::as_pointer(first),
                                                                detail::as_pointer(middle),
                                                                detail::as_pointer(last), less);
                                   });
            } else {
                detail::merge_lists(first, middle, last, less);
            }
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto inplace_merge(Policy&& policy, Range&& range,
                                       detail::iterator_of<Range> middle, Less less = {}) {
    return quern::inplace_merge(policy, detail::begin_of<Policy, Range>(range), middle,
                                std::ranges::end(range), std::move(less));
}

}  // namespace quern
