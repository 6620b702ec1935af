// SPDX-License-Identifier: BSL-1.0
// Loops over index ranges that split themselves only when a worker wants something to do (lazy
// binary splitting: Tzannes, Caragea, Barua and Vishkin, PPoPP 2010; here the demand is the hunger
// of thieves and not an empty deque). One worker, or nobody hungry: no task at all.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/stop.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace quern {

/// How many iterations are run between two looks at whether somebody wants work.
struct grain {
    std::size_t iterations = 0;  ///< 0: chosen while running, so that a look costs under 1 %
    static grain automatic() noexcept { return {}; }
    static grain fixed(std::size_t n) noexcept { return {n == 0 ? 1 : n}; }
};

namespace detail {

/// A chunk should last at least this long; a look at the clock costs about 10 ns.
inline constexpr double k_chunk_ns = 2'000;

/// Adapts the length of chunks to the duration of iterations.
class chunk_size {
public:
    explicit chunk_size(grain wanted) noexcept
        : m_size(wanted.iterations != 0 ? wanted.iterations : 1), m_fixed(wanted.iterations != 0) {}

    std::size_t get() const noexcept { return m_size; }

    /// Runs a chunk and learns from how long it took.
    template <class Chunk>
    void run(Chunk&& chunk) {
        if (m_fixed || m_settled) {
            chunk();
            return;
        }
        const tick_count start = ticks();
        chunk();
        if (ticks() - start < ticks_of_ns(k_chunk_ns)) {
            m_size *= 2;
        } else {
            m_settled = true;
        }
    }

    bool settled() const noexcept { return m_settled; }

private:
    std::size_t m_size;
    bool m_fixed;
    bool m_settled = false;
};

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cv_t<T>, Others> || ...);

/// Integers: neither truth values nor characters.
template <class T>
concept loop_bound =
    std::integral<T> && !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

/// The type that holds both ends of a range: of int and std::size_t, std::size_t.
template <loop_bound First, loop_bound Last>
using loop_index = std::common_type_t<First, Last>;

/// Brings an end of a range to the type of both.
template <class Index, class Bound>
Index loop_end(Bound bound) {
    if (!std::in_range<Index>(bound)) {
        throw std::invalid_argument("quern: a loop over unsigned indices cannot begin or end at " +
                                    std::to_string(bound));
    }
    return static_cast<Index>(bound);
}

/// Iterations from first to last, also where a signed difference would overflow.
template <class Index>
std::size_t distance(Index first, Index last) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
}

template <class Index>
Index advance(Index from, std::size_t n) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<Index>(static_cast<unsigned_index>(static_cast<unsigned_index>(from) +
                                                          static_cast<unsigned_index>(n)));
}

/// Runs a part of a loop; when it throws, the other parts stop.
template <class Part>
QUERN_ALWAYS_INLINE auto run_part(stop_signal& stop, Part&& part) {
    try {
        return part();
    } catch (...) {
        stop.raise();
        throw;
    }
}

/// What a loop does with a part of its range.
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

/// The same for a reduction. Requires: i < end.
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

template <class Index, class Range>
void split_for(fork_slot* slot, Index first, Index last, chunk_size chunk, stop_signal& stop,
               Range& range) {
    while (first < last && !stop.asks()) {
        const std::size_t left = detail::distance(first, last);
        if (context::of(slot).wanted() && left > chunk.get()) {
            const Index middle = detail::advance(first, left / 2);
            quern::fork_join(
                fork_context(slot),
                [&stop, &range, middle, last, chunk](fork_context c) {
                    const under_signal running(&stop);
                    detail::split_for(c.slot(), middle, last, chunk, stop, range);
                },
                [&stop, &range, first, middle, chunk](fork_context c) {
                    detail::split_for(c.slot(), first, middle, chunk, stop, range);
                });
            return;
        }
        const Index end = detail::advance(first, std::min(left, chunk.get()));
        chunk.run([&] { detail::run_part(stop, [&] { range(fork_context(slot), first, end); }); });
        first = end;
    }
}

/// A part that stops early returns a value for nobody: the loop throws.
template <class Index, class T, class Range, class Combine>
T split_reduce(fork_slot* slot, Index first, Index last, chunk_size chunk, T value,
               stop_signal& stop, Range& range, Combine& combine) {
    while (first < last && !stop.asks()) {
        const std::size_t left = detail::distance(first, last);
        if (context::of(slot).wanted() && left > chunk.get()) {
            const Index middle = detail::advance(first, left / 2);
            // `value` goes to the left part; the right one begins with its first chunk.
            auto parts = quern::fork_join(
                fork_context(slot),
                [&, middle, last, chunk](fork_context c) {
                    const under_signal running(&stop);
                    const Index end = detail::advance(
                        middle, std::min(detail::distance(middle, last), chunk.get()));
                    T begin = detail::run_part(stop, [&] { return range(middle, end); });
                    return detail::split_reduce<Index, T>(c.slot(), end, last, chunk,
                                                          std::move(begin), stop, range, combine);
                },
                [&, first, middle, chunk](fork_context c) {
                    return detail::split_reduce<Index, T>(c.slot(), first, middle, chunk,
                                                          std::move(value), stop, range, combine);
                });
            return combine(std::move(parts.second), std::move(parts.first));
        }
        const Index end = detail::advance(first, std::min(left, chunk.get()));
        chunk.run([&] {
            detail::run_part(stop, [&] { value = combine(std::move(value), range(first, end)); });
        });
        first = end;
    }
    return value;
}

/// Calls f(slot, signal) on a worker, here or on the default runtime as a task made at `site`;
/// throws when the token was stopped before the end.
template <class F>
void run_loop(const void* site, std::stop_token token, F&& f) {
    if (current_context() == nullptr) [[unlikely]] {
        detail::run_on(current_pool().get(), site,
                       [&] { detail::run_loop(site, std::move(token), f); });
        return;
    }
    detail::on_enough_stack([&token, &f] {
        context& place = *current_context();
        stop_signal stop(std::move(token), place.root().task.stop);
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
        detail::split_for(slot, detail::loop_end<index>(first), detail::loop_end<index>(last),
                          chunk_size(how), signal, range);
    });
}

template <class First, class Last, class T, class Map, class Combine>
T run_reduce(const void* site, std::stop_token stop, First first, Last last, grain how, T initial,
             Map& map, Combine& combine) {
    using index = loop_index<First, Last>;
    std::optional<T> result;
    detail::run_loop(site, std::move(stop), [&](fork_slot* slot, stop_signal& signal) {
        loop_map<index, T, Map, Combine> range{map, combine};
        result.emplace(detail::split_reduce<index, T>(
            slot, detail::loop_end<index>(first), detail::loop_end<index>(last), chunk_size(how),
            std::move(initial), signal, range, combine));
    });
    return std::move(*result);
}

}  // namespace detail

/// Calls body(i), or body(context, i), for every i in [first, last), in parallel as far as workers
/// are free. Iterations must be independent of one another.
///
/// The index has the type that holds both bounds; as with `<`, an int and a std::size_t give a
/// std::size_t.
///
/// Errors: the first exception of an iteration; chunks of iterations that have not begun then are
/// dropped, and other exceptions go to the handler (exceptions.hpp). With a token: task_cancelled
/// when its stop was requested before the end; every worker stops at the end of its chunk.
/// std::invalid_argument when one bound is negative and the other one's type unsigned.
/// Thread safety: any thread; outside a worker the loop runs on the default runtime.
/// Cost: as a serial loop, plus a few ns a chunk, while nobody wants work.
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
/// in parallel: combine must be associative; it need not be commutative. `initial` enters once.
/// Where the range is split depends on the run, so floating-point sums may differ in the last bits.
/// Errors, thread safety, cost: as parallel_for.
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
