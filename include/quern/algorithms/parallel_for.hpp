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

template <class First, class Last>
inline constexpr bool k_are_bounds = loop_bound<First>&& loop_bound<Last>;

/// The body gets a copy of the index: it could change the loop's own.
template <class Body, class Index>
inline constexpr bool k_is_loop_body =
    std::disjunction_v<std::is_invocable<Body&, fork_context, Index>,
                       std::is_invocable<Body&, Index>>;

template <class Body, class Index>
inline constexpr bool k_writes_index =
    std::conjunction_v<std::bool_constant<!k_is_loop_body<Body, Index>>,
                       std::disjunction<std::is_invocable<Body&, fork_context, Index&>,
                                        std::is_invocable<Body&, Index&>>>;

/// `value = map(i)` and `value = combine(value, map(i))` are expressions.
template <class T, class Map, class Combine, class Index>
inline constexpr bool k_combines = [] {
    if constexpr (std::is_invocable_v<Map&, Index>) {
        using mapped = std::invoke_result_t<Map&, Index>;
        return std::is_convertible_v<mapped, T> && std::is_invocable_r_v<T, Combine&, T, mapped> &&
               std::is_invocable_r_v<T, Combine&, T, T>;
    }
    return false;
}();

template <class First, class Last, class Body>
void run_for(const void* site, std::stop_token&& stop, First first, Last last, grain how,
             Body& body) {
    using index = loop_index<First, Last>;
    const auto all = loop_indices<index>::of(first, last);
    const auto range = [&body, &all](fork_slot* slot, std::size_t begin, std::size_t end) {
        index i = detail::advance(all.first, begin);
        for (const index behind = detail::advance(all.first, end); i < behind; ++i) {
            if constexpr (std::is_invocable_v<Body&, fork_context, index>) {
                body(fork_context(slot), index(i));
            } else {
                body(index(i));
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
        T value = map(index(i));
        for (++i; i < behind; ++i) {
            value = static_cast<T>(combine(std::move(value), map(index(i))));
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
/// are free. Iterations must be independent of one another. The body gets a copy of the index.
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
    using index = detail::loop_index<First, Last>;
    constexpr bool k_fits = detail::k_is_loop_body<Body, index>;
    constexpr bool k_writes = detail::k_writes_index<Body, index>;
    static_assert(!k_writes, "quern: parallel_for: the body takes the index by value, not int&");
    static_assert(k_fits || k_writes,
                  "quern: parallel_for: the body takes an index, or a fork_context and an index");
    if constexpr (k_fits) {
        detail::run_for(detail::code_address(), std::move(stop), first, last, how, body);
    }
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

// Calls that do not fit never run. NOLINTBEGIN(performance-unnecessary-value-param)
template <class First, class Last, class... Rest>
    requires(!detail::k_are_bounds<First, Last> && !std::is_convertible_v<First, std::stop_token>)
void parallel_for(First&&, Last&&, Rest&&...) {
    static_assert(sizeof(std::decay_t<First>) == 0,
                  "quern: parallel_for: the bounds are integers; for iterators and ranges: "
                  "quern::for_each(quern::par, begin, end, f)");
}
template <class First, class Last, class... Rest>
    requires(!detail::k_are_bounds<First, Last>)
void parallel_for(std::stop_token, First&&, Last&&, Rest&&...) {
    static_assert(sizeof(std::decay_t<First>) == 0,
                  "quern: parallel_for: the bounds are integers; for iterators and ranges: "
                  "quern::for_each(quern::par, begin, end, f)");
}
template <detail::loop_bound First, detail::loop_bound Last, class Body>
void parallel_for(First, Last, Body&&, grain) {
    static_assert(sizeof(std::decay_t<Body>) == 0,
                  "quern: parallel_for: the grain comes before the body: "
                  "(first, last, grain, body)");
}
// NOLINTEND(performance-unnecessary-value-param)
/// combine(...combine(combine(initial, map(first)), map(first + 1))..., map(last - 1)), evaluated
/// in parallel: combine must be associative; it need not be commutative. `initial` is used once.
/// The splitting differs between runs, so floating-point sums may differ in the last bits. Errors,
/// thread safety, cost: as parallel_for.
///
///     double sum = quern::parallel_reduce(0, n, 0.0, [&](int i) { return x[i]; }, std::plus<>{});
template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
QUERN_ALWAYS_INLINE T parallel_reduce(std::stop_token stop, First first, Last last, grain how,
                                      T initial, Map&& map, Combine&& combine) {
    using index = detail::loop_index<First, Last>;
    constexpr bool k_maps = std::is_invocable_v<Map&, index>;
    constexpr bool k_combines = detail::k_combines<T, Map, Combine, index>;
    static_assert(k_maps, "quern: parallel_reduce: map takes an index, by value");
    static_assert(!k_maps || k_combines,
                  "quern: parallel_reduce: map's result becomes a value of the initial one's type, "
                  "and combine takes two of them");
    if constexpr (k_combines) {
        return detail::run_reduce(detail::code_address(), std::move(stop), first, last, how,
                                  std::move(initial), map, combine);
    } else {
        return initial;
    }
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

// Calls that do not fit never run. NOLINTBEGIN(performance-unnecessary-value-param)
template <class First, class Last, class... Rest>
    requires(!detail::k_are_bounds<First, Last> && !std::is_convertible_v<First, std::stop_token>)
void parallel_reduce(First&&, Last&&, Rest&&...) {
    static_assert(sizeof(std::decay_t<First>) == 0,
                  "quern: parallel_reduce: the bounds are integers; for iterators and ranges: "
                  "quern::transform_reduce(quern::par, begin, end, initial, combine, map)");
}
template <class First, class Last, class... Rest>
    requires(!detail::k_are_bounds<First, Last>)
void parallel_reduce(std::stop_token, First&&, Last&&, Rest&&...) {
    static_assert(sizeof(std::decay_t<First>) == 0,
                  "quern: parallel_reduce: the bounds are integers; for iterators and ranges: "
                  "quern::transform_reduce(quern::par, begin, end, initial, combine, map)");
}
template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
T parallel_reduce(First, Last, T initial, grain, Map&&, Combine&&) {
    static_assert(sizeof(std::decay_t<Map>) == 0,
                  "quern: parallel_reduce: the grain comes before the initial value: "
                  "(first, last, grain, initial, map, combine)");
    return initial;
}
template <detail::loop_bound First, detail::loop_bound Last, class T, class Map, class Combine>
T parallel_reduce(std::stop_token, First first, Last last, T initial, grain how, Map&& map,
                  Combine&& combine) {
    return quern::parallel_reduce(first, last, std::move(initial), how, map, combine);
}
// NOLINTEND(performance-unnecessary-value-param)
}  // namespace quern
