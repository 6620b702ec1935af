// SPDX-License-Identifier: BSL-1.0
// wait_all, wait_any and wait_some: wait for futures without taking them over. As in HPX. when_all
// and its variants (when.hpp) combine futures into one and consume them.
#pragma once

#include <quern/task/when.hpp>

#include <cstddef>
#include <iterator>
#include <tuple>
#include <vector>

namespace quern {

namespace detail {

/// Another reference to the same result, used for waiting only.
template <class Future>
auto watch(const Future& f) {
    using T = typename Future::state_type::result;
    auto& state = f.state();  // throws if there is none
    state.add_reference();
    return shared_future<T>(future<T>(state_ref<shared_state<T>>(&state)));
}

template <class It>
auto watch_all(It first, It last) {
    std::vector<decltype(watch(*first))> all;
    for (; first != last; ++first) {
        all.push_back(detail::watch(*first));
    }
    return all;
}

}  // namespace detail

/// Returns when all are ready. The futures stay valid. An exception stays in its future, for get()
/// to throw. Throws std::future_error(no_state) if one is invalid.
///
/// Thread safety: any thread; a waiting task is suspended. Cost: one wait after the other.
///
///     quern::wait_all(answer, state);      // futures, or shared futures
///     quern::wait_all(parts);              // a sequence of them
///     for (auto& part : parts) total += part.get();
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
void wait_all(const Futures&... futures) { (futures.wait(), ...); }
template <std::input_iterator It>
void wait_all(It first, It last) {
    for (; first != last; ++first) {
        first->wait();
    }
}
template <detail::sequence_type Sequence>
void wait_all(const Sequence& futures) {
    quern::wait_all(futures.begin(), futures.end());
}

/// Returns when one is ready: its index, or the index of the first of several. With no futures it
/// returns at once with k_none of when_any_result. Otherwise as wait_all. Cost: as when_any; no
/// memory is kept.
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
std::size_t wait_any(const Futures&... futures) {
    return quern::when_any(detail::watch(futures)...).get().index;
}
template <std::forward_iterator It>
std::size_t wait_any(It first, It last) {
    return quern::when_any(detail::watch_all(first, last)).get().index;
}
template <detail::sequence_type Sequence>
std::size_t wait_any(const Sequence& futures) {
    return quern::wait_any(futures.begin(), futures.end());
}

/// Returns when `count` of them are ready: their indices, in the order in which they became ready.
/// Otherwise as wait_any. Throws std::invalid_argument if there are fewer futures.
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
std::vector<std::size_t> wait_some(std::size_t count, const Futures&... futures) {
    return quern::when_some(count, detail::watch(futures)...).get().indices;
}
template <std::forward_iterator It>
std::vector<std::size_t> wait_some(std::size_t count, It first, It last) {
    return quern::when_some(count, detail::watch_all(first, last)).get().indices;
}
template <detail::sequence_type Sequence>
std::vector<std::size_t> wait_some(std::size_t count, const Sequence& futures) {
    return quern::wait_some(count, futures.begin(), futures.end());
}

}  // namespace quern
