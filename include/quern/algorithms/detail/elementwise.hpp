// SPDX-License-Identifier: BSL-1.0
// The form of the algorithms that treat each element on its own: a serial algorithm of the standard
// is called for each chunk of the range. Used by for_each, transform, copy, fill, replace and
// relatives.
#pragma once

#include <quern/algorithms/detail/chunked_loop.hpp>
#include <quern/algorithms/detail/standard_iterator.hpp>
#include <quern/base/detail/trivial_copy.hpp>

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
    if constexpr (k_copies_trivially<F> && sizeof(F) <= k_copied_function) {
        return f;
    } else {
        return std::ref(f);
    }
}

/// A value with which a chunk works: as for_chunk.
template <class T>
QUERN_ALWAYS_INLINE auto value_for_chunk(const T& value)
    -> std::conditional_t<k_copies_trivially<T> && sizeof(T) <= k_copied_function, T, const T&> {
    return value;
}

/// What an algorithm keeps of a value, called for the value: a copy, so that the value may be one
/// of the elements. A reference if the type has no copies.
template <class Policy, class T>
QUERN_ALWAYS_INLINE auto keep_value(const Policy&, const T& value) {
    if constexpr (std::is_copy_constructible_v<std::remove_all_extents_t<T>>) {
        return [value]() -> const T& { return value; };
    } else {
        static_assert(!Policy::k_is_future,
                      "quern: with as_future a value is copied into the task, and this type has no "
                      "copies");
        return [&value]() -> const T& { return value; };
    }
}

/// A number of elements; negative ones count as 0.
template <std::integral Size>
constexpr std::size_t size_of(Size n) noexcept {
    return std::cmp_greater(n, 0) ? static_cast<std::size_t>(n) : 0;
}

/// Calls chunk(first, last) for chunks of the range, with iterators for algorithms of namespace
/// std. `begin_with` as for for_chunks.
template <class Policy, class It, class Chunk>
QUERN_ALWAYS_INLINE auto on_elements(const Policy& policy, It first, It last,
                                     std::size_t begin_with, Chunk chunk) {
    return detail::run_over<It>(
        policy, [first, last, begin_with, chunk = std::move(chunk)](auto how) mutable {
            if constexpr (how.k_is_parallel) {
                detail::for_chunks(
                    how, detail::length(first, last),
                    [&](std::size_t i, std::size_t end) {
                        chunk(detail::as_standard(detail::at(first, i)),
                              detail::as_standard(detail::at(first, end)));
                    },
                    begin_with);
            } else {
                chunk(detail::as_standard(first), detail::as_standard(last));
            }
        });
}

/// Calls chunk(f, first, last) for chunks of n elements, or, if the iterators know no distances,
/// one(f, iterator) for each. Returns the iterator behind them.
template <class Policy, class It, class Size, class F, class Chunk, class One>
QUERN_ALWAYS_INLINE auto on_n_elements(const Policy& policy, It first, Size n,
                                       std::size_t begin_with, F f, Chunk chunk, One one) {
    return detail::run_over<It>(
        policy, [first, n, begin_with, f = std::move(f), chunk, one](auto how) mutable -> It {
            [[maybe_unused]] const One& each = one;
            std::size_t left = detail::size_of(n);
            if constexpr (random_access<It>) {
                detail::for_chunks(
                    how, left,
                    [&](std::size_t i, std::size_t end) {
                        chunk(f, detail::as_standard(detail::at(first, i)),
                              detail::as_standard(detail::at(first, end)));
                    },
                    begin_with);
                return detail::at(first, left);
            } else {
                for (; left != 0; --left, ++first) {
                    each(f, first);
                }
                return first;
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
                        chunk(detail::as_standard(detail::at(first, i)),
                              detail::as_standard(detail::at(first, end)),
                              detail::as_standard(detail::at(out, i)));
                    },
                    begin_with);
                return detail::at(out, n);
            } else {
                return detail::as_given(chunk(detail::as_standard(first), detail::as_standard(last),
                                              detail::as_standard(out)));
            }
        });
}

/// `begin_with` for algorithms that copy or compare elements of these iterators.
template <class... Its>
inline constexpr std::size_t k_begin_with_elements = k_begin_with<std::iter_value_t<Its>...>;

}  // namespace quern::detail
