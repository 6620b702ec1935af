// SPDX-License-Identifier: BSL-1.0
// find, find_if, find_if_not, find_first_of and adjacent_find: the first element, or pair of
// elements, of a kind. Sequences of elements: search.hpp.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

namespace detail {

/// The first place at which find(first, last), called for chunks, succeeds. In a chunk it returns
/// the place, or its end. A chunk has `overlap` elements more than places.
template <class Policy, class It, class Find>
QUERN_ALWAYS_INLINE auto find_place(const Policy& policy, It first, It last, std::size_t begin_with,
                                    std::size_t overlap, Find find) {
    return detail::run_over<It>(
        policy, [first, last, begin_with, overlap, find = std::move(find)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                const std::size_t all = detail::length(first, last);
                if (all <= overlap) {
                    return last;
                }
                const std::size_t n = all - overlap;
                const std::size_t found = detail::first_match(
                    how, n,
                    [&](std::size_t i, std::size_t end) {
                        const It chunk_end = detail::at(first, end + overlap);
                        const It place =
                            detail::as_given(find(detail::as_standard(detail::at(first, i)),
                                                  detail::as_standard(chunk_end)));
                        return place == chunk_end ? end : detail::length(first, place);
                    },
                    begin_with);
                return found == n ? last : detail::at(first, found);
            } else {
                return detail::as_given(
                    find(detail::as_standard(first), detail::as_standard(last)));
            }
        });
}

}  // namespace detail

/// The first element equal to `value`, or `last`. Chunks behind a place that was found are skipped.
/// Policies, errors, thread safety: as for_each.
/// Cost: at most one pass.
///
///     auto zero = quern::find(quern::par, x.begin(), x.end(), 0.0);
template <execution_policy Policy, std::input_iterator It, class T>
QUERN_ALWAYS_INLINE auto find(Policy&& policy, It first, It last, const T& value) {
    return detail::find_place(policy, first, last, detail::k_begin_with_elements<It>, 0,
                              [value = detail::keep_value(policy, value)](auto i, auto end) {
                                  return std::find(i, end, value());
                              });
}
template <execution_policy Policy, detail::iterable Range, class T>
QUERN_ALWAYS_INLINE auto find(Policy&& policy, Range&& range, const T& value) {
    return quern::find(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                       value);
}

/// The first element for which pred(element) is true, or `last`. As find.
///
///     auto negative = quern::find_if(quern::par, x, [](double e) { return e < 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto find_if(Policy&& policy, It first, It last, Pred pred) {
    return detail::find_place(policy, first, last, 1, 0,
                              [pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::find_if(i, end, detail::for_chunk(pred));
                              });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto find_if(Policy&& policy, Range&& range, Pred pred) {
    return quern::find_if(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                          std::move(pred));
}

/// The first element for which pred(element) is false, or `last`. As find.
///
///     auto negative = quern::find_if_not(quern::par, x, [](double e) { return e >= 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto find_if_not(Policy&& policy, It first, It last, Pred pred) {
    return detail::find_place(policy, first, last, 1, 0,
                              [pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::find_if_not(i, end, detail::for_chunk(pred));
                              });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto find_if_not(Policy&& policy, Range&& range, Pred pred) {
    return quern::find_if_not(policy, detail::begin_of<Policy, Range>(range),
                              std::ranges::end(range), std::move(pred));
}

/// The first element that is equal to one of [s_first, s_last), by pred(element, of those), or
/// `last`. As find.
///
///     auto found = quern::find_first_of(quern::par, x.begin(), x.end(), y.begin(), y.begin() + 3);
template <execution_policy Policy, std::input_iterator It, std::forward_iterator It2,
          class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto find_first_of(Policy&& policy, It first, It last, It2 s_first, It2 s_last,
                                       Pred pred = {}) {
    return detail::find_place(policy, first, last, 1, 0,
                              [s_first, s_last, pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::find_first_of(i, end, detail::as_standard(s_first),
                                                            detail::as_standard(s_last),
                                                            detail::for_chunk(pred));
                              });
}

/// The first element that is equal to the next one, by pred(element, next), or `last`. As find.
///
///     auto twice = quern::adjacent_find(quern::par, x.begin(), x.end());
template <execution_policy Policy, std::forward_iterator It, class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto adjacent_find(Policy&& policy, It first, It last, Pred pred = {}) {
    return detail::find_place(policy, first, last, 1, 1,
                              [pred = std::move(pred)](auto i, auto end) mutable {
                                  return std::adjacent_find(i, end, detail::for_chunk(pred));
                              });
}
template <execution_policy Policy, detail::iterable Range, class Pred = std::equal_to<>>
QUERN_ALWAYS_INLINE auto adjacent_find(Policy&& policy, Range&& range, Pred pred = {}) {
    return quern::adjacent_find(policy, detail::begin_of<Policy, Range>(range),
                                std::ranges::end(range), std::move(pred));
}

}  // namespace quern
