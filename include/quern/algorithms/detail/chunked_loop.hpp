// SPDX-License-Identifier: BSL-1.0
// The primitives under all parallel algorithms: for_chunks, reduce_chunks, first_match and
// any_match, over index ranges [0, n). An algorithm gives them what to do with [first, last) of its
// range, best a loop that the compiler can vectorise; they divide the range as the policy asks.
#pragma once

#include <quern/algorithms/detail/division.hpp>
#include <quern/algorithms/detail/loop.hpp>
#include <quern/algorithms/detail/run_algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// Runs f(number, first, last) for every chunk of a division.
void run_division(fork_slot* slot, stop_signal& stop, const division& chunks,
                  function_ref<void(std::size_t number, std::size_t first, std::size_t last)> f);

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

bool is_shared(pool* where);

/// Whether more than one worker may share a loop that begins here.
template <class How>
bool is_shared(const How& how) {
    if constexpr (How::k_is_parallel) {
        return detail::is_shared(how.policy.where());
    } else {
        return false;
    }
}

/// The number of workers that may share a loop that begins here.
template <class How>
std::size_t sharers(const How& how) {
    const pool& home = how.policy.where() != nullptr ? *how.policy.where() : current_pool().get();
    return home.knobs().active_workers.load(std::memory_order_relaxed);
}

/// Runs [0, n), n > 0, on the pool, or the caller's if it is null: with chunks of a size that
/// adapts, or with those of a division. With one worker the range is one chunk.
void run_lazy_loop(pool* where, const void* site, std::size_t n, chunk_size chunk,
                   loop_range range);
void run_divided_loop(pool* where, const void* site, std::size_t n,
                      function_ref<division(std::size_t cores)> divide, loop_range range);

/// Calls f(first, last) for chunks that are together [0, n), in parallel as far as workers are
/// free. If f returns a bool, false means that the part of the range behind the chunk, up to where
/// another worker began, is not needed. `begin_with`: iterations known to be shorter together than
/// the way to another worker.
/// Errors: the first exception of f; chunks that have not begun then are dropped.
template <class How, class F>
void for_chunks(const How& how, std::size_t n, F&& f, std::size_t begin_with = 1) {
    if (n == 0) {
        return;
    }
    if (detail::is_for_caller(how, n, begin_with)) {
        f(std::size_t{0}, n);
        return;
    }
    if constexpr (How::k_is_parallel) {
        const auto& chunks = how.policy.chunks();
        const auto range = [&f](fork_slot*, std::size_t first, std::size_t last) {
            if constexpr (std::is_void_v<decltype(f(first, last))>) {
                f(first, last);
                return true;
            } else {
                return f(first, last);
            }
        };
        if constexpr (k_is_lazy<std::remove_cvref_t<decltype(chunks)>>) {
            detail::run_lazy_loop(how.policy.where(), how.site, n,
                                  detail::first_chunk(chunks, begin_with), range);
        } else {
            detail::run_divided_loop(
                how.policy.where(), how.site, n,
                [&](std::size_t cores) {
                    return detail::divide(chunks, n, cores,
                                          [&f](std::size_t k) { f(std::size_t{0}, k); });
                },
                range);
        }
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
            value.emplace(static_cast<T>(combine(std::move(*value), std::move(*each))));
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
                result.emplace(map(std::size_t{0}, first));
                reduction_of<T, Map, Combine> reduction(map, combine);
                detail::deal_reduction(slot, stop, first, n, chunk, reduction, &*result);
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
