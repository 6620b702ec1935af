// SPDX-License-Identifier: BSL-1.0
// search, search_n and find_end: where a sequence of elements is in a range.
#pragma once

#include <quern/algorithms/find.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

namespace detail {

/// The least i in [0, n) such that the sequence [s_first, s_last), not empty, begins at first + i;
/// n if there is none. Each place is compared once: chunks share no work, however long the sequence
/// is.
template <class How, class It, class It2, class Pred>
std::size_t first_beginning(const How& how, std::size_t n, It first, It2 s_first, It2 s_last,
                            Pred& pred) {
    return detail::first_match(how, n, [&](std::size_t i, std::size_t end) {
        auto is_equal = detail::for_chunk(pred);
        const auto is_first = [&](auto&& element) -> bool { return is_equal(element, *s_first); };
        const auto continues = [&](It element) {
            It2 s = s_first;
            ++s;
            while (s != s_last && is_equal(*++element, *s)) {
                ++s;
            }
            return s == s_last;
        };
        const auto chunk_end = detail::as_standard(detail::at(first, end));
        auto place = std::find_if(detail::as_standard(detail::at(first, i)), chunk_end, is_first);
        while (place != chunk_end && !continues(detail::as_given(place))) {
            place = std::find_if(detail::at(place, 1), chunk_end, is_first);
        }
        return detail::length(first, It(detail::as_given(place)));
    });
}

}  // namespace detail

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
    return detail::run_over<It>(
        policy, [first, last, s_first, s_last, pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                const std::size_t all = detail::length(first, last);
                const auto size = static_cast<std::size_t>(std::ranges::distance(s_first, s_last));
                if (size == 0 || all < size) {
                    return size == 0 ? first : last;
                }
                const std::size_t n = all - size + 1;
                const std::size_t found =
                    detail::first_beginning(how, n, first, s_first, s_last, pred);
                return found == n ? last : detail::at(first, found);
            } else {
                return detail::as_given(
                    std::search(detail::as_standard(first), detail::as_standard(last),
                                detail::as_standard(s_first), detail::as_standard(s_last),
                                detail::for_chunk(pred)));
            }
        });
}

/// Where `count` successive elements are equal to `value`, by pred(element, value), for the first
/// time. Otherwise as search.
/// Cost: at most twice std::search_n.
///
///     auto place = quern::search_n(quern::par, x.begin(), x.end(), 3, 0.0);
template <execution_policy Policy, std::forward_iterator It, std::integral Size, class T,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto search_n(Policy&& policy, It first, It last, Size count, const T& value,
                                  Pred pred = {}) {
    return detail::run_over<It>(
        policy,
        [first, last, count, value = detail::keep_value(policy, value),
         pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                const std::size_t all = detail::length(first, last);
                const std::size_t size = detail::size_of(count);
                if (size == 0 || all < size) {
                    return size == 0 ? first : last;
                }
                // Places in blocks of `size`, because chunks of blocks share the elements of at
                // most one block with the next chunk.
                const std::size_t places = all - size + 1;
                const auto end_of = [&](std::size_t blocks) {
                    return detail::at(first, std::min(blocks * size, places) + size - 1);
                };
                const auto search_blocks = [&](std::size_t block, std::size_t end) -> It {
                    return detail::as_given(std::search_n(
                        detail::as_standard(detail::at(first, block * size)),
                        detail::as_standard(end_of(end)), count, value(), detail::for_chunk(pred)));
                };
                const std::size_t n = (places + size - 1) / size;
                const std::size_t found =
                    detail::first_match(how, n, [&](std::size_t block, std::size_t end) {
                        const It place = search_blocks(block, end);
                        return place == end_of(end) ? end : detail::length(first, place) / size;
                    });
                return found == n ? last : search_blocks(found, found + 1);
            } else {
                return detail::as_given(std::search_n(detail::as_standard(first),
                                                      detail::as_standard(last), count, value(),
                                                      detail::for_chunk(pred)));
            }
        });
}

/// Where the sequence [s_first, s_last) is in [first, last) for the last time; `last` if it is not,
/// or is empty. Otherwise as search; serial if the sequence has only forward iterators.
///
///     auto place = quern::find_end(quern::par, x.begin(), x.end(), y.begin(), y.begin() + 3);
template <execution_policy Policy, std::forward_iterator It, std::forward_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto find_end(Policy&& policy, It first, It last, It2 s_first, It2 s_last,
                                  Pred pred = {}) {
    return detail::run_over<It>(
        policy, [first, last, s_first, s_last, pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel && std::bidirectional_iterator<It2>) {
                const std::size_t all = detail::length(first, last);
                const auto size = static_cast<std::size_t>(std::ranges::distance(s_first, s_last));
                if (size == 0 || all < size) {
                    return last;
                }
                // Backwards, the last place is the first one.
                const std::size_t n = all - size + 1;
                const std::size_t found = detail::first_beginning(
                    how, n, std::make_reverse_iterator(detail::as_standard(last)),
                    std::make_reverse_iterator(detail::as_standard(s_last)),
                    std::make_reverse_iterator(detail::as_standard(s_first)), pred);
                return found == n ? last : detail::at(first, n - 1 - found);
            } else {
                return detail::as_given(
                    std::find_end(detail::as_standard(first), detail::as_standard(last),
                                  detail::as_standard(s_first), detail::as_standard(s_last),
                                  detail::for_chunk(pred)));
            }
        });
}

}  // namespace quern
