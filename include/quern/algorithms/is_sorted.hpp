// SPDX-License-Identifier: BSL-1.0
// Whether a range is sorted, partitioned, or a heap, and up to where.
#pragma once

#include <quern/algorithms/find.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

/// The first element that is less than the one before it, by less(a, b), or `last`. Policies,
/// errors, thread safety: as for_each.
/// Cost: at most one pass; chunks behind a place that was found are skipped.
///
///     auto end_of_sorted = quern::is_sorted_until(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_sorted_until(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(
        policy, [first, last, less = std::move(less)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                const It before = quern::adjacent_find(
                    how.policy, first, last,
                    [&less](const auto& a, const auto& b) -> bool { return less(b, a); });
                return before == last ? last : detail::at(before, 1);
            } else {
                return detail::as_given(std::is_sorted_until(detail::as_standard(first),
                                                             detail::as_standard(last),
                                                             detail::for_chunk(less)));
            }
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_sorted_until(Policy&& policy, Range&& range, Less less = {}) {
    return quern::is_sorted_until(policy, detail::begin_of<Policy, Range>(range),
                                  std::ranges::end(range), std::move(less));
}

/// Whether no element is less than the one before it. As is_sorted_until.
///
///     bool is_ready = quern::is_sorted(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_sorted(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(
        policy, [first, last, less = std::move(less)](auto how) mutable -> bool {
            return quern::is_sorted_until(how.policy, first, last, std::ref(less)) == last;
        });
}
template <execution_policy Policy, detail::iterable Range, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_sorted(Policy&& policy, Range&& range, Less less = {}) {
    return quern::is_sorted(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                            std::move(less));
}

/// Whether all elements for which pred(element) is true come before the others. As is_sorted_until.
///
///     bool is_done = quern::is_partitioned(quern::par, x, [](double e) { return e > 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto is_partitioned(Policy&& policy, It first, It last, Pred pred) {
    return detail::run_over<It>(
        policy, [first, last, pred = std::move(pred)](auto how) mutable -> bool {
            const It others = quern::find_if_not(how.policy, first, last, std::ref(pred));
            return quern::find_if(how.policy, others, last, std::ref(pred)) == last;
        });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto is_partitioned(Policy&& policy, Range&& range, Pred pred) {
    return quern::is_partitioned(policy, detail::begin_of<Policy, Range>(range),
                                 std::ranges::end(range), std::move(pred));
}

/// The first element that is greater than its parent in a heap by less(a, b), or `last`. As
/// is_sorted_until.
///
///     auto end_of_heap = quern::is_heap_until(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_heap_until(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(
        policy, [first, last, less = std::move(less)](auto how) mutable -> It {
            const std::size_t n = detail::length(first, last);
            const std::size_t found =
                detail::first_match(how, n, [&](std::size_t i, std::size_t end) {
                    for (i += i == 0 ? 1 : 0; i < end; ++i) {  // the root has no parent
                        if (less(*detail::at(first, (i - 1) / 2), *detail::at(first, i))) {
                            return i;
                        }
                    }
                    return end;
                });
            return detail::at(first, found);
        });
}

/// Whether the range is a heap. As is_sorted_until.
///
///     bool is_ready = quern::is_heap(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::random_access_iterator It, class Less = std::less<>>
QUERN_ALWAYS_INLINE auto is_heap(Policy&& policy, It first, It last, Less less = {}) {
    return detail::run_over<It>(
        policy, [first, last, less = std::move(less)](auto how) mutable -> bool {
            return quern::is_heap_until(how.policy, first, last, std::ref(less)) == last;
        });
}

}  // namespace quern
