// SPDX-License-Identifier: BSL-1.0
// includes and the set operations over two sorted ranges.
#pragma once

#include <quern/algorithms/detail/sorted_pieces.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// A set operation; serial(first, last, first2, last2, out, less) is that of the standard.
template <class Policy, class It, class It2, class Out, class Less, class Serial>
QUERN_ALWAYS_INLINE auto combine_sets(const Policy& policy, It first, It last, It2 first2,
                                      It2 last2, Out out, Less less, Serial serial) {
    return detail::run_over<It, It2, Out>(
        policy,
        [first, last, first2, last2, out, less = std::move(less), serial](auto how) mutable -> Out {
            const auto in_order = [&](auto i, auto end, auto j, auto end2, auto to) {
                return detail::as_given(serial(detail::as_standard(i), detail::as_standard(end),
                                               detail::as_standard(j), detail::as_standard(end2),
                                               detail::as_standard(to), detail::for_chunk(less)));
            };
            // The search for a place reads elements that the operation reads again.
            if constexpr (how.k_is_parallel && !k_moves<It> && !k_moves<It2>) {
                return detail::set_operation_in_blocks(how, first, detail::length(first, last),
                                                       first2, detail::length(first2, last2), out,
                                                       less, in_order);
            } else {
                return in_order(first, last, first2, last2, out);
            }
        });
}

}  // namespace detail

/// Whether every element of the second range is in the first one, as often at least. Both must be
/// sorted by less(a, b), which is also called for two elements of one range. Policies, errors,
/// thread safety: as for_each; a chunker has no effect.
/// Cost: at most one pass over both ranges; pieces behind a missing element are skipped. Elements
/// that are equal are compared by one worker. Source of the division: detail/sorted_pieces.hpp.
///
///     bool is_all = quern::includes(quern::par, x.begin(), x.end(), y.begin(), y.end());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto includes(Policy&& policy, It first, It last, It2 first2, It2 last2,
                                  Less less = {}) {
    return detail::run_over<It, It2>(
        policy, [first, last, first2, last2, less = std::move(less)](auto how) mutable -> bool {
            if constexpr (how.k_is_parallel) {
                return detail::includes_in_blocks(how, first, detail::length(first, last), first2,
                                                  detail::length(first2, last2), less);
            } else {
                return std::includes(detail::as_standard(first), detail::as_standard(last),
                                     detail::as_standard(first2), detail::as_standard(last2),
                                     detail::for_chunk(less));
            }
        });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto includes(Policy&& policy, Range&& range, Range2&& range2, Less less = {}) {
    return quern::includes(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                           detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2),
                           std::move(less));
}

/// Writes the sorted union of two ranges to `out`: an element that is m times in the first and n
/// times in the second range is there max(m, n) times, the first m of them from the first range.
/// Returns the end of the result, which must not overlap the ranges. Both must be sorted by less(a,
/// b), which is also called for two elements of one range. Policies, errors, thread safety: as
/// for_each. Cost: one pass. Where workers share it, part of the result is written to a buffer
/// first, or, if elements are no plain data, part of the ranges is read twice. Elements that are
/// equal are compared by one worker. Source of the division: detail/sorted_pieces.hpp.
///
///     auto end = quern::set_union(quern::par, x.begin(), x.end(), y.begin(), y.end(),
///                                 new_grid.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_union(Policy&& policy, It first, It last, It2 first2, It2 last2,
                                   Out out, Less less = {}) {
    return detail::combine_sets(policy, first, last, first2, last2, out, std::move(less),
                                [](auto i, auto end, auto j, auto end2, auto to, auto by) {
                                    return std::set_union(i, end, j, end2, to, by);
                                });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_union(Policy&& policy, Range&& range, Range2&& range2, Out out,
                                   Less less = {}) {
    return quern::set_union(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                            detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2), out,
                            std::move(less));
}

/// Writes the elements of the first range that are in the second one too: of m and n equal ones the
/// first min(m, n). As set_union.
///
///     auto end = quern::set_intersection(quern::par, x.begin(), x.end(), y.begin(), y.end(),
///                                        new_grid.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_intersection(Policy&& policy, It first, It last, It2 first2, It2 last2,
                                          Out out, Less less = {}) {
    return detail::combine_sets(policy, first, last, first2, last2, out, std::move(less),
                                [](auto i, auto end, auto j, auto end2, auto to, auto by) {
                                    return std::set_intersection(i, end, j, end2, to, by);
                                });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_intersection(Policy&& policy, Range&& range, Range2&& range2, Out out,
                                          Less less = {}) {
    return quern::set_intersection(
        policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
        detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2), out, std::move(less));
}

/// Writes the elements of the first range that are not in the second one: of m and n equal ones the
/// last max(m - n, 0). As set_union.
///
///     auto end = quern::set_difference(quern::par, x.begin(), x.end(), y.begin(), y.end(),
///                                      new_grid.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_difference(Policy&& policy, It first, It last, It2 first2, It2 last2,
                                        Out out, Less less = {}) {
    return detail::combine_sets(policy, first, last, first2, last2, out, std::move(less),
                                [](auto i, auto end, auto j, auto end2, auto to, auto by) {
                                    return std::set_difference(i, end, j, end2, to, by);
                                });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_difference(Policy&& policy, Range&& range, Range2&& range2, Out out,
                                        Less less = {}) {
    return quern::set_difference(policy, detail::begin_of<Policy, Range>(range),
                                 std::ranges::end(range), detail::begin_of<Policy, Range2>(range2),
                                 std::ranges::end(range2), out, std::move(less));
}

/// Writes the elements that are in one of the ranges only: of m and n equal ones the last |m - n|
/// of the range with more of them. As set_union.
///
///     auto end = quern::set_symmetric_difference(quern::par, x.begin(), x.end(), y.begin(),
///                                                y.end(), new_grid.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_symmetric_difference(Policy&& policy, It first, It last, It2 first2,
                                                  It2 last2, Out out, Less less = {}) {
    return detail::combine_sets(policy, first, last, first2, last2, out, std::move(less),
                                [](auto i, auto end, auto j, auto end2, auto to, auto by) {
                                    return std::set_symmetric_difference(i, end, j, end2, to, by);
                                });
}
template <execution_policy Policy, detail::iterable Range, detail::iterable Range2,
          std::input_or_output_iterator Out, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto set_symmetric_difference(Policy&& policy, Range&& range, Range2&& range2,
                                                  Out out, Less less = {}) {
    return quern::set_symmetric_difference(
        policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
        detail::begin_of<Policy, Range2>(range2), std::ranges::end(range2), out, std::move(less));
}

}  // namespace quern
