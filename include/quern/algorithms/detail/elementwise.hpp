// SPDX-License-Identifier: BSL-1.0
// The form of the algorithms that treat each element on its own: a serial algorithm of the standard
// is called for each chunk of the range. Used by for_each, transform, copy, fill, replace and
// relatives.
#pragma once

#include <quern/algorithms/detail/chunked_loop.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// Function objects up to this size in bytes are copied for each chunk, so that what they hold can
/// be in registers: the compiler need not expect that writing an element changes it.
inline constexpr std::size_t k_copied_function = 64;

/// The function object with which a chunk works: a copy if that is cheap, else a reference.
template <class F>
QUERN_ALWAYS_INLINE auto for_chunk(F& f) {
    if constexpr (std::is_trivially_copyable_v<F> && sizeof(F) <= k_copied_function) {
        return f;
    } else {
        return std::ref(f);
    }
}

/// A value with which a chunk works: as for_chunk.
template <class T>
QUERN_ALWAYS_INLINE auto value_for_chunk(const T& value)
    -> std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= k_copied_function, T,
                          const T&> {
    return value;
}

/// A number of elements; negative ones count as 0.
template <std::integral Size>
constexpr std::size_t size_of(Size n) noexcept {
    return std::cmp_greater(n, 0) ? static_cast<std::size_t>(n) : 0;
}

/// Calls chunk(first, last) for chunks of the range. `begin_with` as for for_chunks.
template <class Policy, class It, class Chunk>
QUERN_ALWAYS_INLINE auto on_elements(const Policy& policy, It first, It last,
                                     std::size_t begin_with, Chunk chunk) {
    return detail::run_over<It>(
        policy, [first, last, begin_with, chunk = std::move(chunk)](auto how) mutable {
            if constexpr (how.k_is_parallel) {
                detail::for_chunks(
                    how, detail::length(first, last),
                    [&](std::size_t i, std::size_t end) {
                        chunk(detail::at(first, i), detail::at(first, end));
                    },
                    begin_with);
            } else {
                chunk(first, last);
            }
        });
}

/// The same for n elements; returns the iterator behind them. serial(first, n) does it in order.
template <class Policy, class It, class Size, class Chunk, class Serial>
QUERN_ALWAYS_INLINE auto on_n_elements(const Policy& policy, It first, Size n,
                                       std::size_t begin_with, Chunk chunk, Serial serial) {
    return detail::run_over<It>(policy,
                                [first, n, begin_with, chunk = std::move(chunk),
                                 serial = std::move(serial)](auto how) mutable -> It {
                                    if constexpr (how.k_is_parallel) {
                                        detail::for_chunks(
                                            how, detail::size_of(n),
                                            [&](std::size_t i, std::size_t end) {
                                                chunk(detail::at(first, i), detail::at(first, end));
                                            },
                                            begin_with);
                                        return detail::at(first, detail::size_of(n));
                                    } else {
                                        return serial(first, n);
                                    }
                                });
}

/// Calls chunk(first, last, out) for chunks of the range and the elements of a second one that
/// correspond. The chunk returns the end of those, and so does this.
template <class Policy, class It, class Out, class Chunk>
QUERN_ALWAYS_INLINE auto into_elements(const Policy& policy, It first, It last, Out out,
                                       std::size_t begin_with, Chunk chunk) {
    return detail::run_over<It, Out>(
        policy, [first, last, out, begin_with, chunk = std::move(chunk)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                detail::for_chunks(
                    how, n,
                    [&](std::size_t i, std::size_t end) {
                        chunk(detail::at(first, i), detail::at(first, end), detail::at(out, i));
                    },
                    begin_with);
                return detail::at(out, n);
            } else {
                return chunk(first, last, out);
            }
        });
}

/// `begin_with` for algorithms that copy or compare elements of these iterators.
template <class... Its>
inline constexpr std::size_t k_begin_with_elements = k_begin_with<std::iter_value_t<Its>...>;

}  // namespace quern::detail
