// SPDX-License-Identifier: BSL-1.0
// How a loop is divided. A longer loop gives each worker a contiguous part, the same one each time
// (loop_parts.hpp). A part splits itself only on a request to steal (lazy binary splitting:
// Tzannes, Caragea, Barua and Vishkin, PPoPP 2010; here the demand is the request of a thief
// instead of an empty deque). With one worker, or for a short loop, no task is created.
#pragma once

#include <quern/algorithms/detail/chunk_size.hpp>
#include <quern/algorithms/detail/loop_parts.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/stop.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

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

/// The shared state of all parts of a loop.
template <class Index>
struct shared_loop {
    stop_signal& stop;
    std::optional<loop_parts<Index>> parts{};  ///< empty until the loop is dealt
};

/// Runs a chunk. False: the rest of its part is not needed. A range that returns nothing needs all.
template <class Index, class Range>
QUERN_ALWAYS_INLINE bool run_chunk(fork_slot* slot, stop_signal& stop, Index first, Index end,
                                   chunk_size& chunk, Range& range) {
    bool is_rest_needed = true;
    chunk.run([&] {
        detail::run_part(stop, [&] {
            if constexpr (std::is_void_v<decltype(range(fork_context(slot), first, end))>) {
                range(fork_context(slot), first, end);
            } else {
                is_rest_needed = range(fork_context(slot), first, end);
            }
        });
    });
    return is_rest_needed;
}

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
        if (!detail::run_chunk(slot, loop.stop, first, end, chunk, range)) {
            return;
        }
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
        if (!detail::run_chunk(slot, loop.stop, next, end, chunk, range)) {
            return;
        }
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

}  // namespace quern::detail
