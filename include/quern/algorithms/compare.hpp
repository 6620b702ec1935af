// SPDX-License-Identifier: BSL-1.0
// mismatch, equal and lexicographical_compare: two ranges, element by element.
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

/// Whether comparing two elements takes about a nanosecond.
template <class Pred, class... Its>
inline constexpr std::size_t k_begin_to_compare =
    same_as_one_of<Pred, std::equal_to<>, std::less<>> ? k_begin_with_elements<Its...> : 1;

/// std::equal, which compares memory if there is no predicate and the types allow it.
template <class It, class It2, class Pred>
bool is_equal(It first, It last, It2 first2, Pred& pred) {
    if constexpr (std::is_same_v<Pred, std::equal_to<>>) {
        return std::equal(detail::as_standard(first), detail::as_standard(last),
                          detail::as_standard(first2));
    } else {
        return std::equal(detail::as_standard(first), detail::as_standard(last),
                          detail::as_standard(first2), detail::for_chunk(pred));
    }
}

/// The first of the n indices at which pred(element, element2) is false, or n.
template <class How, class It, class It2, class Pred>
std::size_t first_mismatch(const How& how, It first, std::size_t n, It2 first2, Pred& pred) {
    return detail::first_match(
        how, n,
        [&](std::size_t i, std::size_t end) {
            const auto from = detail::as_standard(first);
            const auto place =
                std::mismatch(detail::at(from, i), detail::at(from, end),
                              detail::at(detail::as_standard(first2), i), detail::for_chunk(pred))
                    .first;
            return detail::length(from, place);
        },
        k_begin_to_compare<Pred, It, It2>);
}

}  // namespace detail

/// The first pair of elements for which pred(element, element2) is false, or the ends of the
/// shorter range. Policies, errors, thread safety: as for_each. Cost: at most one pass; chunks
/// behind a place that was found are skipped.
///
///     auto [i, j] = quern::mismatch(quern::par, x.begin(), x.end(), y.begin(), y.end());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto mismatch(Policy&& policy, It first, It last, It2 first2, It2 last2,
                                  Pred pred = {}) {
    return detail::run_over<It, It2>(
        policy,
        [first, last, first2, last2,
         pred = std::move(pred)](auto how) mutable -> std::pair<It, It2> {
            if constexpr (how.k_is_parallel) {
                const std::size_t n =
                    std::min(detail::length(first, last), detail::length(first2, last2));
                const std::size_t i = detail::first_mismatch(how, first, n, first2, pred);
                return {detail::at(first, i), detail::at(first2, i)};
            } else {
                return detail::as_given(
                    std::mismatch(detail::as_standard(first), detail::as_standard(last),
                                  detail::as_standard(first2), detail::as_standard(last2),
                                  detail::for_chunk(pred)));
            }
        });
}
/// The same for a second range that is not shorter than the first one.
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Pred = std::equal_to<>>
    requires(!std::input_iterator<Pred>)
QUERN_ALWAYS_INLINE auto mismatch(Policy&& policy, It first, It last, It2 first2, Pred pred = {}) {
    return detail::run_over<It, It2>(
        policy,
        [first, last, first2, pred = std::move(pred)](auto how) mutable -> std::pair<It, It2> {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                const std::size_t i = detail::first_mismatch(how, first, n, first2, pred);
                return {detail::at(first, i), detail::at(first2, i)};
            } else {
                return detail::as_given(
                    std::mismatch(detail::as_standard(first), detail::as_standard(last),
                                  detail::as_standard(first2), detail::for_chunk(pred)));
            }
        });
}

/// Whether pred(element, element2) is true for every pair of elements. The workers stop when it was
/// false for one. Policies, errors, thread safety, cost: as mismatch.
///
///     bool is_same = quern::equal(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Pred = std::equal_to<>>
    requires(!std::input_iterator<Pred>)
QUERN_ALWAYS_INLINE auto equal(Policy&& policy, It first, It last, It2 first2, Pred pred = {}) {
    return detail::run_over<It, It2>(
        policy, [first, last, first2, pred = std::move(pred)](auto how) mutable -> bool {
            if constexpr (how.k_is_parallel) {
                return !detail::any_match(
                    how, detail::length(first, last),
                    [&](std::size_t i, std::size_t end) {
                        return !detail::is_equal(detail::at(first, i), detail::at(first, end),
                                                 detail::at(first2, i), pred);
                    },
                    detail::k_begin_to_compare<Pred, It, It2>);
            } else {
                return detail::is_equal(first, last, first2, pred);
            }
        });
}
/// The same, and whether both ranges have the same length.
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto equal(Policy&& policy, It first, It last, It2 first2, It2 last2,
                               Pred pred = {}) {
    return detail::run_over<It, It2>(
        policy, [first, last, first2, last2, pred = std::move(pred)](auto how) mutable -> bool {
            if constexpr (how.k_is_parallel) {
                return detail::length(first, last) == detail::length(first2, last2) &&
                       quern::equal(how.policy, first, last, first2, detail::for_chunk(pred));
            } else {
                return std::equal(detail::as_standard(first), detail::as_standard(last),
                                  detail::as_standard(first2), detail::as_standard(last2),
                                  detail::for_chunk(pred));
            }
        });
}

/// Whether the first range is less than the second one: by less(element, element2) at the first
/// place where they differ, else whether it is shorter. Policies, errors, thread safety, cost: as
/// mismatch; less may be called four times per pair.
///
///     bool is_less = quern::lexicographical_compare(quern::par, x.begin(), x.end(), y.begin(),
///                                                   y.end());
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          class Less = std::less<>>
QUERN_ALWAYS_INLINE auto lexicographical_compare(Policy&& policy, It first, It last, It2 first2,
                                                 It2 last2, Less less = {}) {
    return detail::run_over<It, It2>(
        policy, [first, last, first2, last2, less = std::move(less)](auto how) mutable -> bool {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                const std::size_t n2 = detail::length(first2, last2);
                auto is_same = [&less](const auto& a, const auto& b) -> bool {
                    return !less(a, b) && !less(b, a);
                };
                const std::size_t i =
                    detail::first_mismatch(how, first, std::min(n, n2), first2, is_same);
                return i == std::min(n, n2)
                           ? n < n2
                           : bool(less(*detail::at(first, i), *detail::at(first2, i)));
            } else {
                return std::lexicographical_compare(
                    detail::as_standard(first), detail::as_standard(last),
                    detail::as_standard(first2), detail::as_standard(last2),
                    detail::for_chunk(less));
            }
        });
}

}  // namespace quern
