// SPDX-License-Identifier: BSL-1.0
// Loops over index ranges. How they are divided among the workers: detail/deal_loop.hpp.
#pragma once

#include <quern/algorithms/detail/deal_loop.hpp>
#include <quern/algorithms/grain.hpp>
#include <quern/task/stop.hpp>

#include <concepts>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cv_t<T>, Others> || ...);

/// Integers except bool and character types.
template <class T>
concept loop_bound =
    std::integral<T> && !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

/// The type that holds both bounds: for int and std::size_t, std::size_t.
template <loop_bound First, loop_bound Last>
using loop_index = std::common_type_t<First, Last>;

/// Converts a bound to the common type.
template <class Index, class Bound>
Index loop_end(Bound bound) {
    if (!std::in_range<Index>(bound)) {
        throw std::invalid_argument("quern: a loop over unsigned indices cannot begin or end at " +
                                    std::to_string(bound));
    }
    return static_cast<Index>(bound);
}

/// Runs the body over a part of the range.
template <class Index, class Body>
struct loop_body {
    Body& body;

    void operator()(fork_context c, Index i, Index end) {
        for (; i < end; ++i) {
            if constexpr (std::is_invocable_v<Body&, fork_context, Index>) {
                body(c, i);
            } else {
                body(i);
            }
        }
    }
};

/// As above for a reduction. Requires: i < end.
template <class Index, class T, class Map, class Combine>
struct loop_map {
    Map& map;
    Combine& combine;

    T operator()(Index i, Index end) {
        T value = map(i);
        for (++i; i < end; ++i) {
            value = combine(std::move(value), map(i));
        }
        return value;
    }
};

/// Calls f(slot, signal) on a worker: here, or on the default runtime as a task made at `site`.
/// Throws if the token was stopped before the end.
template <class F>
void run_loop(const void* site, std::stop_token token, F&& f) {
    if (current_context() == nullptr) [[unlikely]] {
        detail::run_on(current_pool().get(), site,
                       [&] { detail::run_loop(site, std::move(token), f); });
        return;
    }
    detail::on_enough_stack([&token, &f] {
        context& place = *current_context();
        stop_signal stop(std::move(token), place.root().task().stop);
        const under_signal running(&stop);
        f(place.bottom(), stop);
        throw_if_stopped(stop.token(), task_cancelled::subject::loop);
    });
}

template <class First, class Last, class Body>
void run_for(const void* site, std::stop_token stop, First first, Last last, grain how,
             Body& body) {
    using index = loop_index<First, Last>;
    detail::run_loop(site, std::move(stop), [&](fork_slot* slot, stop_signal& signal) {
        loop_body<index, Body> range{body};
        shared_loop<index> loop{signal};
        detail::deal_for(slot, detail::loop_end<index>(first), detail::loop_end<index>(last),
                         chunk_size(how), loop, range);
    });
}

template <class First, class Last, class T, class Map, class Combine>
T run_reduce(const void* site, std::stop_token stop, First first, Last last, grain how, T initial,
             Map& map, Combine& combine) {
    using index = loop_index<First, Last>;
    std::optional<T> result;
    detail::run_loop(site, std::move(stop), [&](fork_slot* slot, stop_signal& signal) {
        loop_map<index, T, Map, Combine> range{map, combine};
        shared_loop<index> loop{signal};
        result.emplace(detail::deal_reduce<index, T>(slot, detail::loop_end<index>(first),
                                                     detail::loop_end<index>(last), chunk_size(how),
                                                     std::move(initial), loop, range, combine));
    });
    return std::move(*result);
}

}  // namespace detail

/// Calls body(i), or body(context, i), for every i in [first, last), in parallel as far as workers
/// are free. Iterations must be independent of one another.
///
/// The index has the common type of both bounds; as with `<`, an int and a std::size_t give a
/// std::size_t.
///
/// Errors: the first exception of an iteration; chunks that have not begun then are dropped, and
/// other exceptions go to the handler (exceptions.hpp). With a token: task_cancelled if its stop
/// was requested before the end; every worker stops at the end of its chunk. std::invalid_argument
/// if one bound is negative and the other one's type unsigned.
/// Thread safety: any thread; outside a worker the loop runs on the default runtime.
/// Cost: as a serial loop, plus a few ns per chunk without requests to steal. A loop of more than
/// about 4 us forks one entry for each active worker besides the caller's. In each loop over the
/// same range a worker has the same contiguous part, if it arrives in time.
///
///     quern::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
///     quern::parallel_for(0, n, quern::grain::fixed(1), [&](int i) { solve(problem[i]); });
template <detail::loop_bound First, detail::loop_bound Last, class Body>
QUERN_ALWAYS_INLINE void parallel_for(std::stop_token stop, First first, Last last, grain how,
                                      Body&& body) {
    detail::run_for(detail::code_address(), std::move(stop), first, last, how, body);
}

template <detail::loop_bound First, detail::loop_bound Last, class Body>
QUERN_ALWAYS_INLINE void parallel_for(std::stop_token stop, First first, Last last, Body&& body) {
    quern::parallel_for(std::move(stop), first, last, grain::automatic(), std::forward<Body>(body));
}

template <detail::loop_bound First, detail::loop_bound Last, class Body>
QUERN_ALWAYS_INLINE void parallel_for(First first, Last last, grain how, Body&& body) {
    quern::parallel_for(std::stop_token(), first, last, how, std::forward<Body>(body));
}

template <detail::loop_bound First, detail::loop_bound Last, class Body>
QUERN_ALWAYS_INLINE void parallel_for(First first, Last last, Body&& body) {
    quern::parallel_for(first, last, grain::automatic(), std::forward<Body>(body));
}

/// combine(...combine(combine(initial, map(first)), map(first + 1))..., map(last - 1)), evaluated
/// in parallel: combine must be associative; it need not be commutative. `initial` is used once.
/// The splitting differs between runs, so floating-point sums may differ in the last bits. Errors,
/// thread safety, cost: as parallel_for.
///
///     double sum = quern::parallel_reduce(0, n, 0.0, [&](int i) { return x[i]; }, std::plus<>{});
template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
QUERN_ALWAYS_INLINE T parallel_reduce(std::stop_token stop, First first, Last last, grain how,
                                      T initial, Map&& map, Combine&& combine) {
    return detail::run_reduce(detail::code_address(), std::move(stop), first, last, how,
                              std::move(initial), map, combine);
}

template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
QUERN_ALWAYS_INLINE T parallel_reduce(std::stop_token stop, First first, Last last, T initial,
                                      Map&& map, Combine&& combine) {
    return quern::parallel_reduce(std::move(stop), first, last, grain::automatic(),
                                  std::move(initial), std::forward<Map>(map),
                                  std::forward<Combine>(combine));
}

template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
QUERN_ALWAYS_INLINE T parallel_reduce(First first, Last last, grain how, T initial, Map&& map,
                                      Combine&& combine) {
    return quern::parallel_reduce(std::stop_token(), first, last, how, std::move(initial),
                                  std::forward<Map>(map), std::forward<Combine>(combine));
}

template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
QUERN_ALWAYS_INLINE T parallel_reduce(First first, Last last, T initial, Map&& map,
                                      Combine&& combine) {
    return quern::parallel_reduce(first, last, grain::automatic(), std::move(initial),
                                  std::forward<Map>(map), std::forward<Combine>(combine));
}

}  // namespace quern
