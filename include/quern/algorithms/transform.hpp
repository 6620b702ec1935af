// SPDX-License-Identifier: BSL-1.0
// transform: a function of every element, or of every pair of elements, into another range.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <utility>

namespace quern {

/// *(out + i) = f(*(first + i)) for every i. `out` may be `first`. Returns the end of the output.
/// Policies, errors, thread safety, cost: as for_each.
///
///     quern::transform(quern::par, x.begin(), x.end(), y.begin(), [](double e) { return e * e; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class F>
QUERN_ALWAYS_INLINE auto transform(Policy&& policy, It first, It last, Out out, F f) {
    return detail::into_elements(policy, first, last, out, 1,
                                 [f = std::move(f)](auto i, auto end, auto o) mutable {
                                     return std::transform(i, end, o, detail::for_chunk(f));
                                 });
}

template <execution_policy Policy, detail::iterable Range, std::input_or_output_iterator Out,
          class F>
QUERN_ALWAYS_INLINE auto transform(Policy&& policy, Range&& range, Out out, F f) {
    return quern::transform(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                            out, std::move(f));
}

/// *(out + i) = f(*(first + i), *(first2 + i)) for every i; as above.
///
///     quern::transform(quern::par, x.begin(), x.end(), y.begin(), y.begin(), std::plus<>{});
template <execution_policy Policy, std::input_iterator It, std::input_iterator It2,
          std::input_or_output_iterator Out, class F>
QUERN_ALWAYS_INLINE auto transform(Policy&& policy, It first, It last, It2 first2, Out out, F f) {
    return detail::run_over<It, It2, Out>(
        policy, [first, last, first2, out, f = std::move(f)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                detail::for_chunks(how, n, [&](std::size_t i, std::size_t end) {
                    std::transform(detail::as_standard(detail::at(first, i)),
                                   detail::as_standard(detail::at(first, end)),
                                   detail::as_standard(detail::at(first2, i)),
                                   detail::as_standard(detail::at(out, i)), detail::for_chunk(f));
                });
                return detail::at(out, n);
            } else {
                return detail::as_given(std::transform(
                    detail::as_standard(first), detail::as_standard(last),
                    detail::as_standard(first2), detail::as_standard(out), detail::for_chunk(f)));
            }
        });
}

}  // namespace quern
