// SPDX-License-Identifier: BSL-1.0
// swap_ranges, reverse, rotate and their forms that write a copy.
#pragma once

#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/in_place.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace quern {

namespace detail {

/// Swaps the elements of a range, each with the one at the same distance from the other end.
template <class How, class It>
void reverse_elements(const How& how, It first, std::size_t n) {
    detail::for_chunks(
        how, n / 2,
        [&](std::size_t i, std::size_t end) {
            const auto from = detail::as_standard(first);
            detail::swap_with(detail::at(from, i), detail::at(from, end),
                              std::make_reverse_iterator(detail::at(from, n - i)));
        },
        k_begin_with_elements<It>);
}

}  // namespace detail

/// Swaps every element with that of the range from `first2`; the ranges must not overlap. Returns
/// the end of the second one. Policies, errors, thread safety, cost: as for_each.
///
///     quern::swap_ranges(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::forward_iterator It, std::forward_iterator It2>
QUERN_ALWAYS_INLINE auto swap_ranges(Policy&& policy, It first, It last, It2 first2) {
    return detail::into_elements(
        policy, first, last, first2, detail::k_begin_with_elements<It, It2>,
        [](auto i, auto end, auto other) { return detail::swap_with(i, end, other); });
}

/// Reverses the order of the elements.
///
///     quern::reverse(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::bidirectional_iterator It>
QUERN_ALWAYS_INLINE auto reverse(Policy&& policy, It first, It last) {
    return detail::run_over<It>(policy, [first, last](auto how) {
        if constexpr (how.k_is_parallel) {
            detail::reverse_elements(how, first, detail::length(first, last));
        } else {
            detail::reverse_here(first, last);
        }
    });
}
template <execution_policy Policy, detail::iterable Range>
QUERN_ALWAYS_INLINE auto reverse(Policy&& policy, Range&& range) {
    return quern::reverse(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range));
}

/// Copies the elements to `out` in the reverse order; returns the end of the copy.
///
///     quern::reverse_copy(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::bidirectional_iterator It,
          std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto reverse_copy(Policy&& policy, It first, It last, Out out) {
    return detail::run_over<It, Out>(policy, [first, last, out](auto how) -> Out {
        if constexpr (how.k_is_parallel) {
            const std::size_t n = detail::length(first, last);
            detail::for_chunks(
                how, n,
                [&](std::size_t i, std::size_t end) {
                    std::reverse_copy(detail::as_standard(detail::at(first, n - end)),
                                      detail::as_standard(detail::at(first, n - i)),
                                      detail::as_standard(detail::at(out, i)));
                },
                detail::k_begin_with_elements<It>);
            return detail::at(out, n);
        } else {
            return detail::as_given(std::reverse_copy(
                detail::as_standard(first), detail::as_standard(last), detail::as_standard(out)));
        }
    });
}

/// Moves the elements so that `middle` becomes the first one. Returns the new place of the former
/// first one.
/// Cost: three reversals; each element is moved twice. In a pool of one worker as std::rotate.
///
///     quern::rotate(quern::par, x.begin(), x.begin() + 10, x.end());
template <execution_policy Policy, std::forward_iterator It>
QUERN_ALWAYS_INLINE auto rotate(Policy&& policy, It first, It middle, It last) {
    return detail::run_over<It>(policy, [first, middle, last](auto how) -> It {
        if constexpr (how.k_is_parallel) {
            const std::size_t left = detail::length(first, middle);
            const std::size_t right = detail::length(middle, last);
            if (!detail::is_shared(how)) {
                return detail::rotate_here(first, middle, last);
            }
            if (left != 0 && right != 0) {
                detail::reverse_elements(how, first, left + right);
                detail::reverse_elements(how, first, right);
                detail::reverse_elements(how, detail::at(first, right), left);
            }
            return detail::at(first, right);
        } else {
            return detail::rotate_here(first, middle, last);
        }
    });
}

/// Copies the elements to `out`, those from `middle` first, then those before it. Returns the end
/// of the copy.
///
///     quern::rotate_copy(quern::par, x.begin(), x.begin() + 10, x.end(), y.begin());
template <execution_policy Policy, std::forward_iterator It, std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto rotate_copy(Policy&& policy, It first, It middle, It last, Out out) {
    return detail::run_over<It, Out>(policy, [first, middle, last, out](auto how) -> Out {
        if constexpr (how.k_is_parallel) {
            const Out between = quern::copy(how.policy, middle, last, out);
            return quern::copy(how.policy, first, middle, between);
        } else {
            return detail::as_given(
                std::rotate_copy(detail::as_standard(first), detail::as_standard(middle),
                                 detail::as_standard(last), detail::as_standard(out)));
        }
    });
}

}  // namespace quern
