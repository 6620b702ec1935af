// SPDX-License-Identifier: BSL-1.0
// fill, generate and their forms for a number of elements.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace quern {

/// Assigns `value` to every element. Policies, errors, thread safety, cost: as for_each.
///
///     quern::fill(quern::par, x.begin(), x.end(), 0.0);
template <execution_policy Policy, std::input_or_output_iterator It, class T>
QUERN_ALWAYS_INLINE auto fill(Policy&& policy, It first, It last, const T& value) {
    return detail::on_elements(policy, first, last, detail::k_begin_with<T>,
                               [value = detail::keep_value(policy, value)](auto i, auto end) {
                                   std::fill(i, end, value());
                               });
}
template <execution_policy Policy, detail::iterable Range, class T>
QUERN_ALWAYS_INLINE auto fill(Policy&& policy, Range&& range, const T& value) {
    return quern::fill(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                       value);
}

/// The same for n elements. Returns the iterator behind them.
///
///     quern::fill_n(quern::par, x.begin(), n, 0.0);
template <execution_policy Policy, std::input_or_output_iterator It, std::integral Size, class T>
QUERN_ALWAYS_INLINE auto fill_n(Policy&& policy, It first, Size n, const T& value) {
    return detail::on_n_elements(
        policy, first, n, detail::k_begin_with<T>, detail::keep_value(policy, value),
        [](auto& kept, auto i, auto end) { std::fill(i, end, kept()); },
        [](auto& kept, It& i) { *i = kept(); });
}

/// Assigns a result of `make()` to every element, in any order. Otherwise as fill.
///
///     quern::generate(quern::par, x.begin(), x.end(), [] { return 1.0; });
template <execution_policy Policy, std::input_or_output_iterator It, class F>
QUERN_ALWAYS_INLINE auto generate(Policy&& policy, It first, It last, F make) {
    return detail::on_elements(policy, first, last, 1,
                               [make = std::move(make)](auto i, auto end) mutable {
                                   std::generate(i, end, std::ref(make));
                               });
}
template <execution_policy Policy, detail::iterable Range, class F>
QUERN_ALWAYS_INLINE auto generate(Policy&& policy, Range&& range, F make) {
    return quern::generate(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                           std::move(make));
}

/// The same for n elements. Returns the iterator behind them.
///
///     quern::generate_n(quern::par, x.begin(), n, [] { return 1.0; });
template <execution_policy Policy, std::input_or_output_iterator It, std::integral Size, class F>
QUERN_ALWAYS_INLINE auto generate_n(Policy&& policy, It first, Size n, F make) {
    return detail::on_n_elements(
        policy, first, n, 1, std::move(make),
        [](F& f, auto i, auto end) { std::generate(i, end, std::ref(f)); },
        [](F& f, It& i) { *i = f(); });
}

}  // namespace quern
