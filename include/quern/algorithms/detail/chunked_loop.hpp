// SPDX-License-Identifier: BSL-1.0
// The primitives under all parallel algorithms: for_chunks, reduce_chunks, first_match and
// any_match, over index ranges [0, n). An algorithm gives them what to do with [first, last) of its
// range, best a loop that the compiler can vectorise; they divide the range as the policy asks.
#pragma once

#include <quern/algorithms/detail/deal_loop.hpp>
#include <quern/algorithms/detail/division.hpp>
#include <quern/algorithms/detail/run_algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// Calls body(slot) for `count` runners on the workers that are free. Each returns when there is no
/// work left that it could do; a runner that begins late finds none.
template <class Body>
void run_runners(fork_slot* slot, std::size_t count, stop_signal& stop, Body& body) {
    if (stop.asks()) {
        return;
    }
    if (count == 1) {
        detail::run_part(stop, [&] { body(slot); });
        return;
    }
    quern::fork_join(
        fork_context(slot),
        [&stop, &body, count](fork_context c) {
            const under_signal running(&stop);
            detail::run_runners(c.slot(), count / 2, stop, body);
        },
        [&stop, &body, count](fork_context c) {
            detail::run_runners(c.slot(), count - count / 2, stop, body);
        });
}

/// Runs f(number, first, last) for every chunk of a division.
template <class F>
void run_division(fork_slot* slot, stop_signal& stop, const division& chunks, F& f) {
    const std::size_t count = chunks.count();
    if (chunks.is_dynamic) {
        std::atomic<std::size_t> next{0};
        const auto take_chunks = [&](fork_slot* at) {
            while (!stop.asks()) {
                // relaxed: the chunks' results are published by the joins of the runners.
                const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
                if (i >= count) {
                    return;
                }
                context::of(at).offer_if_wanted();
                f(i, chunks.first_of(i), chunks.last_of(i));
            }
        };
        detail::run_runners(slot, std::min(detail::parts_for(slot), count), stop, take_chunks);
        return;
    }
    const auto range = [&](fork_context, std::size_t i, std::size_t end) {
        for (; i < end; ++i) {
            f(i, chunks.first_of(i), chunks.last_of(i));
        }
    };
    shared_loop<std::size_t> loop{stop};
    detail::deal_for(slot, std::size_t{0}, count, chunk_size(grain::fixed(1)), loop, range);
}

template <class Chunker>
inline constexpr bool k_is_lazy = std::is_same_v<Chunker, lazy> || std::is_same_v<Chunker, grain>;

/// The chunks with which lazy dealing begins.
inline chunk_size first_chunk(const lazy&, std::size_t begin_with) noexcept {
    return chunk_size::growing_from(begin_with);
}
inline chunk_size first_chunk(const grain& fixed, std::size_t begin_with) noexcept {
    return fixed.iterations == 0 ? chunk_size::growing_from(begin_with) : chunk_size(fixed);
}

/// Whether the caller runs the range itself: the policy is serial, or the range too short.
template <class How>
bool is_for_caller(const How& how, std::size_t n, std::size_t begin_with) noexcept {
    if constexpr (How::k_is_parallel) {
        return n <= begin_with && how.policy.where() == nullptr;
    } else {
        return true;
    }
}

/// Whether more than one worker may share a loop that begins here.
template <class How>
bool is_shared(const How& how) {
    if constexpr (How::k_is_parallel) {
        const pool& home =
            how.policy.where() != nullptr ? *how.policy.where() : current_pool().get();
        return home.policy().steals &&
               home.knobs.active_workers.load(std::memory_order_relaxed) > 1;
    } else {
        return false;
    }
}

/// Calls f(first, last) for chunks that are together [0, n), in parallel as far as workers are
/// free. If f returns a bool, false means that the part of the range behind the chunk, up to where
/// another worker began, is not needed. `begin_with`: iterations known to be shorter together than
/// the way to another worker.
/// Errors: the first exception of f; chunks that have not begun then are dropped.
template <class How, class F>
void for_chunks(const How& how, std::size_t n, F&& f, std::size_t begin_with = 1) {
    if (detail::is_for_caller(how, n, begin_with)) {
        if (n != 0) {
            f(std::size_t{0}, n);
        }
        return;
    }
    if constexpr (How::k_is_parallel) {
        detail::run_loop_of(how, [&](fork_slot* slot, stop_signal& stop) {
            const auto& chunks = how.policy.chunks();
            if (detail::parts_for(slot) == 1 || n <= 1) {
                if (n != 0) {
                    f(std::size_t{0}, n);
                }
            } else if constexpr (k_is_lazy<std::remove_cvref_t<decltype(chunks)>>) {
                const auto range = [&f](fork_context, std::size_t first, std::size_t last) {
                    return f(first, last);
                };
                shared_loop<std::size_t> loop{stop};
                detail::deal_for(slot, std::size_t{0}, n, detail::first_chunk(chunks, begin_with),
                                 loop, range);
            } else {
                const auto numbered = [&f](std::size_t, std::size_t first, std::size_t last) {
                    f(first, last);
                };
                detail::run_division(slot, stop,
                                     detail::divide(chunks, n, detail::parts_for(slot),
                                                    [&f](std::size_t k) { f(std::size_t{0}, k); }),
                                     numbered);
            }
        });
    }
}

/// The values of the chunks of a division, combined in the order of the chunks.
template <class T, class Chunker, class Map, class Combine>
T reduce_division(fork_slot* slot, stop_signal& stop, const Chunker& chunks, std::size_t n,
                  Map& map, Combine& combine) {
    std::optional<T> value;
    const division all = detail::divide(chunks, n, detail::parts_for(slot), [&](std::size_t k) {
        value.emplace(map(std::size_t{0}, k));
    });
    std::vector<std::optional<T>> values(all.count());
    const auto numbered = [&](std::size_t number, std::size_t first, std::size_t last) {
        values[number].emplace(map(first, last));
    };
    detail::run_division(slot, stop, all, numbered);
    for (std::optional<T>& each : values) {
        if (!each) {  // omitted by a stop
            continue;
        }
        if (value) {
            value.emplace(combine(std::move(*value), std::move(*each)));
        } else {
            value = std::move(each);
        }
    }
    return std::move(*value);
}

/// combine(...combine(map(0, a), map(a, b))..., map(z, n)) for chunks that are together [0, n), n
/// > 0. combine(T&&, T&&) must be associative; the order is kept. T needs a move constructor, and
/// the assignment if the chunker is lazy or a grain. Errors and `begin_with` as for_chunks.
template <class How, class Map, class Combine>
auto reduce_chunks(const How& how, std::size_t n, Map&& map, Combine&& combine,
                   std::size_t begin_with = 1) {
    using T = std::remove_cvref_t<std::invoke_result_t<Map&, std::size_t, std::size_t>>;
    if constexpr (!How::k_is_parallel) {
        return T(map(std::size_t{0}, n));
    } else {
        if (detail::is_for_caller(how, n, begin_with)) {
            return T(map(std::size_t{0}, n));
        }
        std::optional<T> result;
        detail::run_loop_of(how, [&](fork_slot* slot, stop_signal& stop) {
            const auto& chunks = how.policy.chunks();
            if (detail::parts_for(slot) == 1 || n <= 1) {
                result.emplace(map(std::size_t{0}, n));
            } else if constexpr (k_is_lazy<std::remove_cvref_t<decltype(chunks)>>) {
                const chunk_size chunk = detail::first_chunk(chunks, begin_with);
                const std::size_t first = std::min(n, chunk.get());
                shared_loop<std::size_t> loop{stop};
                result.emplace(detail::deal_reduce<std::size_t, T>(
                    slot, first, n, chunk, map(std::size_t{0}, first), loop, map, combine));
            } else {
                result.emplace(detail::reduce_division<T>(slot, stop, chunks, n, map, combine));
            }
        });
        return std::move(*result);
    }
}

/// The least index in [0, n) at which a search succeeds; n if at none. search(first, last) returns
/// the least one in [first, last), or last. Chunks behind an index that was found are skipped.
template <class How, class Search>
std::size_t first_match(const How& how, std::size_t n, Search&& search,
                        std::size_t begin_with = 1) {
    // relaxed: only the number matters; the joins of the chunks order everything else.
    std::atomic<std::size_t> found{n};
    detail::for_chunks(
        how, n,
        [&found, &search](std::size_t first, std::size_t last) {
            std::size_t least = found.load(std::memory_order_relaxed);
            if (first >= least) {
                return false;
            }
            const std::size_t at = search(first, last);
            if (at == last) {
                return true;
            }
            while (at < least &&
                   !found.compare_exchange_weak(least, at, std::memory_order_relaxed)) {
            }
            return false;
        },
        begin_with);
    return found.load(std::memory_order_relaxed);
}

/// Whether test(first, last) is true for one of the chunks. Once it is, the others are skipped.
template <class How, class Test>
bool any_match(const How& how, std::size_t n, Test&& test, std::size_t begin_with = 1) {
    std::atomic<bool> found{false};  // relaxed: as in first_match
    detail::for_chunks(
        how, n,
        [&found, &test](std::size_t first, std::size_t last) {
            if (found.load(std::memory_order_relaxed)) {
                return false;
            }
            if (test(first, last)) {
                found.store(true, std::memory_order_relaxed);
                return false;
            }
            return true;
        },
        begin_with);
    return found.load(std::memory_order_relaxed);
}

}  // namespace quern::detail
