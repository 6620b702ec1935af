// SPDX-License-Identifier: BSL-1.0
// The way from a public algorithm to its code: as a task if the policy asks for a future, on the
// policy's pool, on a worker. Also what the algorithms ask of iterators and ranges.
#pragma once

#include <quern/algorithms/execution.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/base/detail/trivial_copy.hpp>
#include <quern/task/async.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// A policy that does not return a future, with the program's calling address for reports.
template <class Policy>
struct execution {
    static constexpr bool k_is_parallel = Policy::k_is_parallel;

    Policy policy;
    const void* site;

    /// The same on the calling thread, for iterators that do not allow more.
    auto in_order() const noexcept { return execution<sequenced_policy>{sequenced_policy(), site}; }

    /// The same with lazy chunks: for loops over blocks, whose number a chunker does not mean.
    auto in_lazy_chunks() const noexcept {
        return execution<parallel_policy>{parallel_policy(lazy(), policy.where()), site};
    }
};

/// Calls f(execution), in a new task if the policy says as_future. Everything that f needs is in f.
template <class Policy, class F>
QUERN_ALWAYS_INLINE auto run_algorithm(const Policy& policy, F&& f) {
    const void* const site = code_address();
    using direct = decltype(policy.without_future());
    if constexpr (Policy::k_is_future) {
        return quern::async(task_attributes{.pool = policy.where(), .site = site},
                            [how = execution<direct>{policy.without_future(), site},
                             f = std::forward<F>(f)]() mutable { return f(how); });
    } else {
        return f(execution<direct>{policy, site});
    }
}

/// Calls f(slot, signal) on a worker of the policy's pool, as the beginning of a loop.
template <class Policy, class F>
void run_loop_of(const execution<Policy>& how, F&& f) {
    detail::run_loop(how.policy.where(), how.site, std::stop_token(), f);
}

/// Iterators of one step in constant time, as C++20 or C++17 counts them.
template <class It>
concept random_access = std::random_access_iterator<It> ||
    std::derived_from<typename std::iterator_traits<It>::iterator_category,
                      std::random_access_iterator_tag>;

/// Elements that share words cannot be written in parallel: bits, also as parts of zipped elements
/// and behind iterators that adapt others.
template <class Reference>
inline constexpr bool k_is_bit = std::is_same_v<Reference, std::vector<bool>::reference>;
template <class A, class B>
inline constexpr bool k_is_bit<std::pair<A, B>> = k_is_bit<A> || k_is_bit<B>;
template <class... Parts>
inline constexpr bool k_is_bit<std::tuple<Parts...>> = (k_is_bit<Parts> || ...);
template <class It>
inline constexpr bool k_shares_words = k_is_bit<std::remove_cvref_t<std::iter_reference_t<It>>>;

/// Whether an algorithm over these iterators may run in parallel.
template <class Policy, class... Its>
inline constexpr bool k_goes_parallel = Policy::k_is_parallel &&
                                        ((random_access<Its> && !k_shares_words<Its>)&&...);

/// Calls f(how), where `how` is in order unless all iterators allow to run in parallel.
template <class... Its, class Policy, class F>
QUERN_ALWAYS_INLINE auto run_over(const Policy& policy, F&& f) {
    return detail::run_algorithm(policy, [f = std::forward<F>(f)](auto how) mutable {
        if constexpr (k_goes_parallel<std::remove_cvref_t<decltype(how)>, Its...>) {
            return f(how);
        } else {
            return f(how.in_order());
        }
    });
}

/// An iterator moved by a number of elements.
template <class It>
QUERN_ALWAYS_INLINE It at(const It& first, std::size_t n) {
    return first + static_cast<std::iter_difference_t<It>>(n);
}

/// The number of elements between random access iterators.
template <class It>
std::size_t length(const It& first, const It& last) {
    return static_cast<std::size_t>(last - first);
}

/// A range with begin and end of one type, for the overloads that take ranges.
template <class R>
concept iterable = requires(R& range) {
    { std::ranges::begin(range) } -> std::input_or_output_iterator;
    { std::ranges::end(range) } -> std::same_as<decltype(std::ranges::begin(range))>;
};
template <class R>
using iterator_of = decltype(std::ranges::begin(std::declval<R&>()));

/// The beginning of a range that was given to an algorithm as `Range&&`. With as_future the call
/// returns before the task runs, so the range must not end with the call.
template <class Policy, class Range>
QUERN_ALWAYS_INLINE auto begin_of(std::remove_reference_t<Range>& range) {
    static_assert(!std::remove_cvref_t<Policy>::k_is_future || std::is_lvalue_reference_v<Range> ||
                      std::ranges::enable_borrowed_range<std::remove_cv_t<Range>>,
                  "quern: with as_future the algorithm runs after the call, and this range is a "
                  "temporary that ends with it: give the container or view a name, and keep it "
                  "until get()");
    return std::ranges::begin(range);
}

/// As `begin_with` of for_chunks, for elements that are copied, compared or filled without a call
/// of the program's code: about 1 us. Estimated, for 8 bytes each.
template <class... Ts>
inline constexpr std::size_t k_begin_with = (std::is_trivially_copyable_v<Ts> && ...) ? 2048 : 1;

}  // namespace quern::detail
