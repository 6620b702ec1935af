// SPDX-License-Identifier: BSL-1.0
// copy, copy_n, copy_if and move. Source and destination must not overlap.
#pragma once

#include <quern/algorithms/detail/compaction.hpp>
#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/in_place.hpp>

#include <algorithm>
#include <utility>

namespace quern {

/// Copies the elements to `out`; returns the end of the copy. Policies, errors, thread safety,
/// cost: as for_each.
///
///     quern::copy(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto copy(Policy&& policy, It first, It last, Out out) {
    return detail::into_elements(policy, first, last, out, detail::k_begin_with_elements<It>,
                                 [](auto i, auto end, auto o) { return std::copy(i, end, o); });
}
template <execution_policy Policy, detail::iterable Range, std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto copy(Policy&& policy, Range&& range, Out out) {
    return quern::copy(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                       out);
}

/// The same for the n elements from `first`.
///
///     quern::copy_n(quern::par, x.begin(), n, y.begin());
template <execution_policy Policy, std::input_iterator It, std::integral Size,
          std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto copy_n(Policy&& policy, It first, Size n, Out out) {
    return detail::run_over<It, Out>(policy, [first, n, out](auto how) -> Out {
        if constexpr (how.k_is_parallel) {
            return quern::copy(how.policy, first, detail::at(first, detail::size_of(n)), out);
        } else {
            return detail::as_given(
                std::copy_n(detail::as_standard(first), n, detail::as_standard(out)));
        }
    });
}

/// Moves the elements to `out`; otherwise as copy.
///
///     std::vector<std::string> names(100), taken(100);
///     quern::move(quern::par, names.begin(), names.end(), taken.begin());
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto move(Policy&& policy, It first, It last, Out out) {
    return detail::into_elements(
        policy, first, last, out, detail::k_begin_with_elements<It>,
        [](auto i, auto end, auto o) { return detail::move_range(i, end, o); });
}
template <execution_policy Policy, detail::iterable Range, std::input_or_output_iterator Out>
QUERN_ALWAYS_INLINE auto move(Policy&& policy, Range&& range, Out out) {
    return quern::move(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                       out);
}

/// Copies the elements for which pred(element) is true, in their order. Returns the end of the
/// copy. Cost: pred is called once per element. One pass; where workers share the work, kept
/// elements are read twice, and one allocation of 8 KiB per worker holds a bit for each element in
/// progress.
///
///     auto end = quern::copy_if(quern::par, x.begin(), x.end(), y.begin(),
///                               [](double e) { return e > 0; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Pred>
QUERN_ALWAYS_INLINE auto copy_if(Policy&& policy, It first, It last, Out out, Pred pred) {
    return detail::run_over<It, Out>(
        policy, [first, last, out, pred = std::move(pred)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const auto is_kept = [&](const auto& i) -> bool { return std::invoke(pred, *i); };
                return detail::compact_into(how, first, detail::length(first, last), out, is_kept);
            } else {
                return detail::as_given(std::copy_if(detail::as_standard(first),
                                                     detail::as_standard(last),
                                                     detail::as_standard(out), std::ref(pred)));
            }
        });
}
template <execution_policy Policy, detail::iterable Range, std::input_or_output_iterator Out,
          class Pred>
QUERN_ALWAYS_INLINE auto copy_if(Policy&& policy, Range&& range, Out out, Pred pred) {
    return quern::copy_if(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                          out, std::move(pred));
}

}  // namespace quern
