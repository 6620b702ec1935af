// SPDX-License-Identifier: BSL-1.0
// count, count_if, and whether a predicate is true for all, any or none of the elements.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace quern {

namespace detail {

/// The sum of count(first, last) over chunks of the range.
template <class Policy, class It, class Count>
QUERN_ALWAYS_INLINE auto count_chunks(const Policy& policy, It first, It last,
                                      std::size_t begin_with, Count count) {
    using number = std::iter_difference_t<standard_of<It>>;
    return detail::run_over<It>(
        policy, [first, last, begin_with, count = std::move(count)](auto how) mutable -> number {
            if constexpr (how.k_is_parallel) {
                return detail::reduce_chunks(
                    how, detail::length(first, last),
                    [&](std::size_t i, std::size_t end) -> number {
                        return count(detail::as_standard(detail::at(first, i)),
                                     detail::as_standard(detail::at(first, end)));
                    },
                    std::plus<>{}, begin_with);
            } else {
                return count(detail::as_standard(first), detail::as_standard(last));
            }
        });
}

/// Whether test(first, last) is true for one of the chunks, or is not, as `wanted` says.
template <class Policy, class It, class Test>
QUERN_ALWAYS_INLINE auto any_chunk(const Policy& policy, It first, It last, bool wanted,
                                   Test test) {
    return detail::run_over<It>(
        policy, [first, last, wanted, test = std::move(test)](auto how) mutable -> bool {
            if constexpr (how.k_is_parallel) {
                return wanted == detail::any_match(
                                     how, detail::length(first, last),
                                     [&](std::size_t i, std::size_t end) -> bool {
                                         return test(detail::as_standard(detail::at(first, i)),
                                                     detail::as_standard(detail::at(first, end)));
                                     });
            } else {
                return wanted == test(detail::as_standard(first), detail::as_standard(last));
            }
        });
}

}  // namespace detail

/// The number of elements equal to `value`. Policies, errors, thread safety, cost: as for_each.
///
///     auto zeros = quern::count(quern::par, x.begin(), x.end(), 0.0);
template <execution_policy Policy, std::input_iterator It, class T>
QUERN_ALWAYS_INLINE auto count(Policy&& policy, It first, It last, const T& value) {
    return detail::count_chunks(policy, first, last, detail::k_begin_with_elements<It>,
                                [value = detail::keep_value(policy, value)](auto i, auto end) {
                                    return std::count(i, end, value());
                                });
}
template <execution_policy Policy, detail::iterable Range, class T>
QUERN_ALWAYS_INLINE auto count(Policy&& policy, Range&& range, const T& value) {
    return quern::count(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                        value);
}

/// The number of elements for which pred(element) is true.
///
///     auto positive = quern::count_if(quern::par, x, [](double e) { return e > 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto count_if(Policy&& policy, It first, It last, Pred pred) {
    return detail::count_chunks(policy, first, last, 1,
                                [pred = std::move(pred)](auto i, auto end) mutable {
                                    return std::count_if(i, end, detail::for_chunk(pred));
                                });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto count_if(Policy&& policy, Range&& range, Pred pred) {
    return quern::count_if(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                           std::move(pred));
}

/// Whether pred(element) is true for one element at least. The workers stop when it was true for
/// one.
///
///     bool has_negative = quern::any_of(quern::par, x, [](double e) { return e < 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto any_of(Policy&& policy, It first, It last, Pred pred) {
    return detail::any_chunk(policy, first, last, true,
                             [pred = std::move(pred)](auto i, auto end) mutable {
                                 return std::any_of(i, end, detail::for_chunk(pred));
                             });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto any_of(Policy&& policy, Range&& range, Pred pred) {
    return quern::any_of(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                         std::move(pred));
}

/// Whether pred(element) is false for every element. As any_of.
///
///     bool is_finite = quern::none_of(quern::par, x, [](double e) { return e != e; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto none_of(Policy&& policy, It first, It last, Pred pred) {
    return detail::any_chunk(policy, first, last, false,
                             [pred = std::move(pred)](auto i, auto end) mutable {
                                 return std::any_of(i, end, detail::for_chunk(pred));
                             });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto none_of(Policy&& policy, Range&& range, Pred pred) {
    return quern::none_of(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                          std::move(pred));
}

/// Whether pred(element) is true for every element. As any_of.
///
///     bool is_positive = quern::all_of(quern::par, x, [](double e) { return e > 0; });
template <execution_policy Policy, std::input_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto all_of(Policy&& policy, It first, It last, Pred pred) {
    return detail::any_chunk(policy, first, last, false,
                             [pred = std::move(pred)](auto i, auto end) mutable {
                                 return !std::all_of(i, end, detail::for_chunk(pred));
                             });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto all_of(Policy&& policy, Range&& range, Pred pred) {
    return quern::all_of(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                         std::move(pred));
}

}  // namespace quern
