// SPDX-License-Identifier: BSL-1.0
// for_each, for_each_n and for_loop: a function for every element, or every index with a stride.
// The loop of parallel_for.hpp differs in that it takes a stop token and no policy.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// The number of indices of a loop with a stride.
template <class Index, class Stride>
std::size_t steps(Index first, Index last, Stride stride) {
    if (stride == 0) {
        throw std::invalid_argument("quern: for_loop with stride 0: accepted are others");
    }
    const auto size = static_cast<std::size_t>(stride);
    if (std::cmp_greater(stride, 0)) {
        return first < last ? detail::divide_up(detail::distance(first, last), size) : 0;
    }
    return last < first ? detail::divide_up(detail::distance(last, first), std::size_t{0} - size)
                        : 0;
}

/// The serial for_each, which refers to `f` if a copy costs more.
template <class F, class It>
QUERN_ALWAYS_INLINE void call_for_each(F& f, It first, It last) {
    auto call = detail::for_chunk(f);
    for (; first != last; ++first) {
        call(*first);
    }
}

}  // namespace detail

/// Calls f(*i) for every iterator i in [first, last); results are ignored.
///
/// This holds for every algorithm of this folder: Random access iterators run in parallel as the
/// policy says; with other iterators the call runs on the calling thread, in order. The range
/// overloads call the others with begin and end. With as_future the arguments are copied or moved
/// into the task; the elements must live until the future is ready.
/// Errors: the first exception of a call is thrown, or stored in the future. (The standard ends the
/// program instead.) Chunks that have not begun then are dropped, and other exceptions go to the
/// handler (exceptions.hpp). Throws std::bad_alloc.
/// Thread safety: any thread; outside of tasks the default runtime's workers take part. A function
/// may suspend its task.
/// Cost: in a pool of one worker, or with seq, a plain loop. Otherwise as parallel_for; from
/// outside of tasks about 1 us more.
///
///     quern::for_each(quern::par, x.begin(), x.end(), [](double& e) { e *= a; });
template <execution_policy Policy, std::input_or_output_iterator It, class F>
QUERN_ALWAYS_INLINE auto for_each(Policy&& policy, It first, It last, F f) {
    return detail::on_elements(
        policy, first, last, 1,
        [f = std::move(f)](auto i, auto end) mutable { detail::call_for_each(f, i, end); });
}

template <execution_policy Policy, detail::iterable Range, class F>
QUERN_ALWAYS_INLINE auto for_each(Policy&& policy, Range&& range, F f) {
    return quern::for_each(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                           std::move(f));
}

/// The same for the n elements from `first`. Returns the iterator behind them.
///
///     quern::for_each_n(quern::par, x.begin(), 10, [](double& e) { e = 0; });
template <execution_policy Policy, std::input_or_output_iterator It, std::integral Size, class F>
QUERN_ALWAYS_INLINE auto for_each_n(Policy&& policy, It first, Size n, F f) {
    return detail::on_n_elements(
        policy, first, n, 1, std::move(f),
        [](F& kept, auto i, auto end) { detail::call_for_each(kept, i, end); },
        [](F& kept, It& i) { kept(*i); });
}

/// Calls f(i) for first, first + stride, ... as long as that is before `last`; with a negative
/// stride as long as it is behind `last`. HPX's for_loop and for_loop_strided. Throws
/// std::invalid_argument for a stride of 0. Otherwise as for_each.
///
///     quern::for_loop(quern::par, 0, n, 2, [&](int i) { y[i] = x[i]; });
template <execution_policy Policy, detail::loop_bound Index, std::integral Stride, class F>
QUERN_ALWAYS_INLINE auto for_loop(Policy&& policy, Index first, std::type_identity_t<Index> last,
                                  Stride stride, F f) {
    const std::size_t count = detail::steps(first, last, stride);
    return detail::run_algorithm(
        policy, [first, count, stride, f = std::move(f)](auto how) mutable {
            detail::for_chunks(how, count, [&](std::size_t i, std::size_t end) {
                auto call = detail::for_chunk(f);
                for (; i < end; ++i) {
                    // Unsigned arithmetic is right for negative strides as well.
                    call(detail::advance(first, i * static_cast<std::size_t>(stride)));
                }
            });
        });
}

template <execution_policy Policy, detail::loop_bound Index, class F>
QUERN_ALWAYS_INLINE auto for_loop(Policy&& policy, Index first, std::type_identity_t<Index> last,
                                  F f) {
    return quern::for_loop(policy, first, last, 1, std::move(f));
}

}  // namespace quern
