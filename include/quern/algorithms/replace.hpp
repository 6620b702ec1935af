// SPDX-License-Identifier: BSL-1.0
// replace, replace_if and their forms that write a copy.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <utility>

namespace quern {

/// Assigns `value` to every element that is equal to `old_value`. Policies, errors, thread safety,
/// cost: as for_each.
///
///     quern::replace(quern::par, x.begin(), x.end(), 0.0, 1.0);
template <execution_policy Policy, std::input_iterator It, class T>
QUERN_ALWAYS_INLINE auto replace(Policy&& policy, It first, It last, const T& old_value,
                                 const T& value) {
    return detail::on_elements(policy, first, last, detail::k_begin_with_elements<It>,
                               [old_value = detail::keep_value(policy, old_value),
                                value = detail::keep_value(policy, value)](auto i, auto end) {
                                   std::replace(i, end, detail::value_for_chunk(old_value()),
                                                detail::value_for_chunk(value()));
                               });
}
template <execution_policy Policy, detail::iterable Range, class T>
QUERN_ALWAYS_INLINE auto replace(Policy&& policy, Range&& range, const T& old_value,
                                 const T& value) {
    return quern::replace(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                          old_value, value);
}

/// Assigns `value` to every element for which pred(element) is true.
///
///     quern::replace_if(quern::par, x.begin(), x.end(), [](double e) { return e < 0; }, 0.0);
template <execution_policy Policy, std::input_iterator It, class Pred, class T>
QUERN_ALWAYS_INLINE auto replace_if(Policy&& policy, It first, It last, Pred pred, const T& value) {
    return detail::on_elements(policy, first, last, 1,
                               [pred = std::move(pred), value = detail::keep_value(policy, value)](
                                   auto i, auto end) mutable {
                                   std::replace_if(i, end, detail::for_chunk(pred),
                                                   detail::value_for_chunk(value()));
                               });
}
template <execution_policy Policy, detail::iterable Range, class Pred, class T>
QUERN_ALWAYS_INLINE auto replace_if(Policy&& policy, Range&& range, Pred pred, const T& value) {
    return quern::replace_if(policy, detail::begin_of<Policy, Range>(range),
                             std::ranges::end(range), std::move(pred), value);
}

/// Copies the elements to `out`, with `value` in place of those equal to `old_value`. Returns the
/// end of the copy.
///
///     quern::replace_copy(quern::par, x.begin(), x.end(), y.begin(), 0.0, 1.0);
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class T>
QUERN_ALWAYS_INLINE auto replace_copy(Policy&& policy, It first, It last, Out out,
                                      const T& old_value, const T& value) {
    return detail::into_elements(
        policy, first, last, out, detail::k_begin_with_elements<It>,
        [old_value = detail::keep_value(policy, old_value),
         value = detail::keep_value(policy, value)](auto i, auto end, auto o) {
            return std::replace_copy(i, end, o, detail::value_for_chunk(old_value()),
                                     detail::value_for_chunk(value()));
        });
}

/// The same with `value` in place of the elements for which pred(element) is true.
///
///     quern::replace_copy_if(quern::par, x.begin(), x.end(), y.begin(),
///                            [](double e) { return e < 0; }, 0.0);
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Pred, class T>
QUERN_ALWAYS_INLINE auto replace_copy_if(Policy&& policy, It first, It last, Out out, Pred pred,
                                         const T& value) {
    return detail::into_elements(
        policy, first, last, out, 1,
        [pred = std::move(pred), value = detail::keep_value(policy, value)](auto i, auto end,
                                                                            auto o) mutable {
            return std::replace_copy_if(i, end, o, detail::for_chunk(pred),
                                        detail::value_for_chunk(value()));
        });
}

}  // namespace quern
