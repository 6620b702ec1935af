// SPDX-License-Identifier: BSL-1.0
// search, search_n and find_end: where a sequence of elements is in a range.
#pragma once

#include <quern/algorithms/find.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

/// Where the sequence [s_first, s_last) is in [first, last) for the first time, by pred(element, of
/// the sequence); `last` if it is not, `first` if it is empty. Policies, errors, thread safety: as
/// for_each.
/// Cost: as std::search; chunks behind a place that was found are skipped.
///
///     auto place = quern::search(quern::par, x.begin(), x.end(), y.begin(), y.begin() + 3);
template <execution_policy Policy, std::forward_iterator It, std::forward_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto search(Policy&& policy, It first, It last, It2 s_first, It2 s_last,
                                Pred pred = {}) {
    const auto size = static_cast<std::size_t>(std::distance(s_first, s_last));
    return detail::find_place(policy, first, size == 0 ? first : last, 1, size == 0 ? 0 : size - 1,
                              [s_first, s_last, pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::search(i, end, s_first, s_last,
                                                     detail::for_chunk(pred));
                              });
}

/// Where `count` successive elements are equal to `value`, by pred(element, value), for the first
/// time. Otherwise as search.
///
///     auto place = quern::search_n(quern::par, x.begin(), x.end(), 3, 0.0);
template <execution_policy Policy, std::forward_iterator It, std::integral Size, class T,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto search_n(Policy&& policy, It first, It last, Size count, const T& value,
                                  Pred pred = {}) {
    const std::size_t size = detail::size_of(count);
    return detail::find_place(policy, first, size == 0 ? first : last, 1, size == 0 ? 0 : size - 1,
                              [count, value, pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::search_n(i, end, count, value,
                                                       detail::for_chunk(pred));
                              });
}

/// Where the sequence [s_first, s_last) is in [first, last) for the last time; `last` if it is not,
/// or is empty. Otherwise as search.
///
///     auto place = quern::find_end(quern::par, x.begin(), x.end(), y.begin(), y.begin() + 3);
template <execution_policy Policy, std::forward_iterator It, std::forward_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto find_end(Policy&& policy, It first, It last, It2 s_first, It2 s_last,
                                  Pred pred = {}) {
    return detail::run_over<It>(
        policy, [first, last, s_first, s_last, pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                const std::size_t all = detail::length(first, last);
                const auto size = static_cast<std::size_t>(std::distance(s_first, s_last));
                if (size == 0 || all < size) {
                    return last;
                }
                // The places in the reverse order: the first match is the last one.
                const std::size_t n = all - size + 1;
                const std::size_t found =
                    detail::first_match(how, n, [&](std::size_t i, std::size_t end) {
                        const It from = detail::at(first, n - end);
                        const It to = detail::at(first, all - i);
                        const It place =
                            std::find_end(from, to, s_first, s_last, detail::for_chunk(pred));
                        return place == to ? end : n - 1 - detail::length(first, place);
                    });
                return found == n ? last : detail::at(first, n - 1 - found);
            } else {
                return std::find_end(first, last, s_first, s_last, detail::for_chunk(pred));
            }
        });
}

}  // namespace quern
