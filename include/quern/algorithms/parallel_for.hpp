// SPDX-License-Identifier: BSL-1.0
// Loops over index ranges. A longer loop gives each worker a contiguous part, the same one each
// time (loop_parts.hpp). A part splits itself only on a request to steal (lazy binary splitting:
// Tzannes, Caragea, Barua and Vishkin, PPoPP 2010; here the demand is the request of a thief
// instead of an empty deque). With one worker, or for a short loop, no task is created.
#pragma once

#include <quern/algorithms/detail/loop_parts.hpp>
#include <quern/base/detail/clock.hpp>
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
#include <vector>

namespace quern {

/// Iterations between two checks for requests to steal.
struct grain {
    std::size_t iterations = 0;  ///< 0: chosen at run time, so that a check costs under 1 %
    static grain automatic() noexcept { return {}; }
    static grain fixed(std::size_t n) noexcept { return {n == 0 ? 1 : n}; }
};

namespace detail {

/// The minimal duration of a chunk; reading the clock costs about 10 ns.
inline constexpr double k_chunk_ns = 2'000;

/// Adapts the length of chunks to the duration of iterations.
class chunk_size {
public:
    explicit chunk_size(grain wanted) noexcept
        : m_size(wanted.iterations != 0 ? wanted.iterations : 1), m_fixed(wanted.iterations != 0) {}

    std::size_t get() const noexcept { return m_size; }

    /// Runs a chunk and adapts to its duration.
    template <class Chunk>
    void run(Chunk&& chunk) {
        if (settled()) {
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

    /// Whether the size is final.
    bool settled() const noexcept { return m_fixed || m_settled; }

private:
    std::size_t m_size;
    bool m_fixed;
    bool m_settled = false;
};

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

/// Runs a part of a loop; if it throws, the other parts stop.
template <class Part>
QUERN_ALWAYS_INLINE auto run_part(stop_signal& stop, Part&& part) {
    try {
        return part();
    } catch (...) {
        stop.raise();
        throw;
    }
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

/// The shared state of all parts of a loop.
template <class Index>
struct shared_loop {
    stop_signal& stop;
    std::optional<loop_parts<Index>> parts{};  ///< empty until the loop is dealt
};

/// The number of parts of a loop that begins here: one for each worker that may participate.
inline std::size_t parts_for(fork_slot* slot) noexcept {
    const pool& home = context::of(slot).host().home();
    const std::size_t workers = home.knobs.active_workers.load(std::memory_order_relaxed);
    return home.policy().steals ? std::min(workers, k_most_loop_parts) : 1;
}

/// Whether to deal a loop to the workers: it is known to be long, or there is a request to steal,
/// and each part is at least a chunk.
inline bool is_to_be_dealt(fork_slot* slot, const chunk_size& chunk, std::size_t left,
                           std::size_t parts) noexcept {
    return parts > 1 && (chunk.settled() || context::of(slot).wanted()) &&
           left / parts >= chunk.get();
}

/// Whether a part should split itself: there is a request to steal, and every part has begun.
/// Before that, whole parts are offered.
template <class Index>
bool is_to_split(fork_slot* slot, const shared_loop<Index>& loop) noexcept {
    context& place = context::of(slot);
    if (!place.wanted()) {
        return false;
    }
    if (loop.parts && loop.parts->has_free()) {
        place.offer_if_wanted();
        return false;
    }
    return true;
}

/// Runs `count` of the parts of a loop. A worker that runs a part claims its own, if that is free.
template <class Index, class Run>
void run_parts(fork_slot* slot, std::size_t count, shared_loop<Index>& loop, Run& run) {
    if (loop.stop.asks()) {
        return;
    }
    if (count == 1) {
        run(slot, loop.parts->claim(context::of(slot).host().rank()));
        return;
    }
    // The dealing worker continues with one part; the others may be stolen.
    const std::size_t here = count == loop.parts->to_claim() ? 1 : count / 2;
    quern::fork_join(
        fork_context(slot),
        [&loop, &run, count, here](fork_context c) {
            const under_signal running(&loop.stop);
            detail::run_parts(c.slot(), count - here, loop, run);
        },
        [&loop, &run, here](fork_context c) { detail::run_parts(c.slot(), here, loop, run); });
}

template <class Index, class Range>
void split_for(fork_slot* slot, Index first, Index last, chunk_size chunk, shared_loop<Index>& loop,
               Range& range) {
    while (first < last && !loop.stop.asks()) {
        const std::size_t left = detail::distance(first, last);
        if (detail::is_to_split(slot, loop) && left > chunk.get()) {
            const Index middle = detail::advance(first, left / 2);
            quern::fork_join(
                fork_context(slot),
                [&loop, &range, middle, last, chunk](fork_context c) {
                    const under_signal running(&loop.stop);
                    detail::split_for(c.slot(), middle, last, chunk, loop, range);
                },
                [&loop, &range, first, middle, chunk](fork_context c) {
                    detail::split_for(c.slot(), first, middle, chunk, loop, range);
                });
            return;
        }
        const Index end = detail::advance(first, std::min(left, chunk.get()));
        chunk.run(
            [&] { detail::run_part(loop.stop, [&] { range(fork_context(slot), first, end); }); });
        first = end;
    }
}

/// A whole loop: begins as one part, and is dealt to the workers if that is worthwhile.
template <class Index, class Range>
void deal_for(fork_slot* slot, const Index first, const Index last, chunk_size chunk,
              shared_loop<Index>& loop, Range& range) {
    const std::size_t parts = detail::parts_for(slot);
    for (Index next = first; next < last && !loop.stop.asks();) {
        const std::size_t left = detail::distance(next, last);
        if (detail::is_to_be_dealt(slot, chunk, left, parts)) {
            loop.parts.emplace(first, last, next, parts);
            const auto run = [&loop, &range, chunk](fork_slot* at, const auto& part) {
                detail::split_for(at, part.first, part.last, chunk, loop, range);
            };
            detail::run_parts(slot, loop.parts->to_claim(), loop, run);
            return;
        }
        if (parts == 1 || chunk.settled() || context::of(slot).wanted()) {
            detail::split_for(slot, next, last, chunk, loop, range);
            return;
        }
        const Index end = detail::advance(next, std::min(left, chunk.get()));
        chunk.run(
            [&] { detail::run_part(loop.stop, [&] { range(fork_context(slot), next, end); }); });
        next = end;
    }
}

template <class Index, class T, class Range, class Combine>
T split_reduce(fork_slot* slot, Index first, Index last, chunk_size chunk, T value,
               shared_loop<Index>& loop, Range& range, Combine& combine);

/// As split_reduce for a part without a value: its first chunk gives it one.
template <class Index, class T, class Range, class Combine>
T reduce_part(fork_slot* slot, Index first, Index last, chunk_size chunk, shared_loop<Index>& loop,
              Range& range, Combine& combine) {
    const Index end = detail::advance(first, std::min(detail::distance(first, last), chunk.get()));
    T begin = detail::run_part(loop.stop, [&] { return range(first, end); });
    return detail::split_reduce<Index, T>(slot, end, last, chunk, std::move(begin), loop, range,
                                          combine);
}

/// The value of a part that stops early is not used: the loop throws.
template <class Index, class T, class Range, class Combine>
T split_reduce(fork_slot* slot, Index first, Index last, chunk_size chunk, T value,
               shared_loop<Index>& loop, Range& range, Combine& combine) {
    while (first < last && !loop.stop.asks()) {
        const std::size_t left = detail::distance(first, last);
        if (detail::is_to_split(slot, loop) && left > chunk.get()) {
            const Index middle = detail::advance(first, left / 2);
            // The left part continues with `value`; the right one begins with its first chunk.
            auto parts = quern::fork_join(
                fork_context(slot),
                [&, middle, last, chunk](fork_context c) {
                    const under_signal running(&loop.stop);
                    return detail::reduce_part<Index, T>(c.slot(), middle, last, chunk, loop, range,
                                                         combine);
                },
                [&, first, middle, chunk](fork_context c) {
                    return detail::split_reduce<Index, T>(c.slot(), first, middle, chunk,
                                                          std::move(value), loop, range, combine);
                });
            return combine(std::move(parts.second), std::move(parts.first));
        }
        const Index end = detail::advance(first, std::min(left, chunk.get()));
        chunk.run([&] {
            detail::run_part(loop.stop,
                             [&] { value = combine(std::move(value), range(first, end)); });
        });
        first = end;
    }
    return value;
}

/// A whole reduction, as deal_for. The parts' values are combined in the order of the parts.
template <class Index, class T, class Range, class Combine>
T deal_reduce(fork_slot* slot, const Index first, const Index last, chunk_size chunk, T value,
              shared_loop<Index>& loop, Range& range, Combine& combine) {
    const std::size_t parts = detail::parts_for(slot);
    for (Index next = first; next < last && !loop.stop.asks();) {
        const std::size_t left = detail::distance(next, last);
        if (detail::is_to_be_dealt(slot, chunk, left, parts)) {
            loop.parts.emplace(first, last, next, parts);
            std::vector<std::optional<T>> values(parts);
            const auto run = [&, chunk](fork_slot* at, const auto& part) {
                values[part.number].emplace(detail::reduce_part<Index, T>(
                    at, part.first, part.last, chunk, loop, range, combine));
            };
            detail::run_parts(slot, loop.parts->to_claim(), loop, run);
            for (std::optional<T>& each : values) {
                if (each) {  // empty for a part done before, or omitted by a stop
                    value = combine(std::move(value), std::move(*each));
                }
            }
            return value;
        }
        if (parts == 1 || chunk.settled() || context::of(slot).wanted()) {
            return detail::split_reduce<Index, T>(slot, next, last, chunk, std::move(value), loop,
                                                  range, combine);
        }
        const Index end = detail::advance(next, std::min(left, chunk.get()));
        chunk.run([&] {
            detail::run_part(loop.stop,
                             [&] { value = combine(std::move(value), range(next, end)); });
        });
        next = end;
    }
    return value;
}

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
