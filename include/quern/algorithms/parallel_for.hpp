// SPDX-License-Identifier: BSL-1.0
// Loops over index ranges. How they are divided among the workers: docs/algorithms.md.
#pragma once

#include <quern/algorithms/detail/indices.hpp>
#include <quern/algorithms/detail/loop.hpp>
#include <quern/algorithms/grain.hpp>
#include <quern/task/stop.hpp>

#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

template <class First, class Last, class Body>
void run_for(const void* site, std::stop_token&& stop, First first, Last last, grain how,
             Body& body) {
    using index = loop_index<First, Last>;
    const auto all = loop_indices<index>::of(first, last);
    const auto range = [&body, &all](fork_slot* slot, std::size_t begin, std::size_t end) {
        index i = detail::advance(all.first, begin);
        for (const index behind = detail::advance(all.first, end); i < behind; ++i) {
            if constexpr (std::is_invocable_v<Body&, fork_context, index>) {
                body(fork_context(slot), i);
            } else {
                body(i);
            }
        }
        return true;
    };
    const auto whole = [&](fork_slot* slot, stop_signal& signal) {
        detail::deal_loop(slot, signal, all.count, chunk_size(how), range);
    };
    detail::run_loop(nullptr, site, std::move(stop), whole);
}

template <class First, class Last, class T, class Map, class Combine>
T run_reduce(const void* site, std::stop_token&& stop, First first, Last last, grain how, T initial,
             Map& map, Combine& combine) {
    using index = loop_index<First, Last>;
    const auto all = loop_indices<index>::of(first, last);
    const auto map_range = [&](std::size_t begin, std::size_t end) {
        index i = detail::advance(all.first, begin);
        const index behind = detail::advance(all.first, end);
        T value = map(i);
        for (++i; i < behind; ++i) {
            value = combine(std::move(value), map(i));
        }
        return value;
    };
    const auto whole = [&](fork_slot* slot, stop_signal& signal) {
        reduction_of<T, decltype(map_range), Combine> reduction(map_range, combine);
        detail::deal_reduction(slot, signal, 0, all.count, chunk_size(how), reduction, &initial);
    };
    detail::run_loop(nullptr, site, std::move(stop), whole);
    return initial;
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
