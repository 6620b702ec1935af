// SPDX-License-Identifier: BSL-1.0
// A merge sort with a buffer of as many elements as the range, in parallel: stable_sort and
// inplace_merge. Without memory for the buffer, or if moves may throw, they merge in place.
#pragma once

#include <quern/algorithms/detail/in_place.hpp>
#include <quern/algorithms/detail/merging.hpp>
#include <quern/algorithms/detail/parallel_quick_sort.hpp>
#include <quern/task/exceptions.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// The first exception of functions that must finish their moves in spite of it.
class kept_exception {
public:
    bool has_one() const noexcept { return m_has_one.load(std::memory_order_relaxed); }

    /// Calls f(); keeps what it throws.
    template <class F>
    void catch_from(F&& f) noexcept {
        try {
            f();
        } catch (...) {
            keep(std::current_exception());
        }
    }

    /// Requires: nothing runs that could keep another one.
    void rethrow() {
        if (m_error) {
            std::rethrow_exception(std::exchange(m_error, nullptr));
        }
    }

private:
    QUERN_COLD void keep(std::exception_ptr error) noexcept {
        // relaxed: the joins publish the exception; the flag is a hint.
        if (m_has_one.exchange(true, std::memory_order_relaxed)) {
            detail::report_exception(std::move(error), exception_origin::later_exception);
        } else {
            m_error = std::move(error);
        }
    }

    std::atomic<bool> m_has_one{false};
    std::exception_ptr m_error{};
};

/// Memory for n elements, or none.
template <class T>
class scratch {
public:
    explicit scratch(std::size_t n)
        : m_memory(n <= static_cast<std::size_t>(-1) / sizeof(T)
                       ? ::operator new (n * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow)
                       : nullptr) {}
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { ::operator delete (m_memory, std::align_val_t{alignof(T)}); }

    /// Null: there is not so much memory.
    T* get() const noexcept { return static_cast<T*>(m_memory); }

private:
    void* m_memory;
};

/// Moves what two ranges still have, at the end: also when a comparison throws.
template <class A, class B, class Out>
struct rest_of_merge {
    sorted_pair<A, B>& in;
    Out& out;

    ~rest_of_merge() {
        out = detail::move_elements(in.a, in.a_end, out);
        out = detail::move_elements(in.b, in.b_end, out);
    }
};

/// Moves and merges the elements. All have been moved also when it throws.
template <class A, class B, class Out, class Less>
void merge_moves_here(sorted_pair<A, B> in, Out out, Less& less) {
    if constexpr (k_merges_plain<A, B, Out>) {
        try {
            if (in.a != in.a_end && in.b != in.b_end && less(*in.b, in.a_end[-1])) {
                using element = std::iter_value_t<Out>;
                detail::merge_plain<element>(in.a, in.a_end, in.b, in.b_end, out, less);
                return;
            }
        } catch (...) {
            std::copy(in.b, in.b_end, std::copy(in.a, in.a_end, out));
            throw;
        }
        std::copy(in.b, in.b_end, std::copy(in.a, in.a_end, out));
    } else {
        const rest_of_merge<A, B, Out> rest{in, out};
        if (in.a == in.a_end || in.b == in.b_end || !less(*in.b, *(in.a_end - 1))) {
            return;
        }
        while (in.a != in.a_end && in.b != in.b_end) {
            if (less(*in.b, *in.a)) {
                *out = std::ranges::iter_move(in.b);
                ++in.b;
            } else {
                *out = std::ranges::iter_move(in.a);
                ++in.a;
            }
            ++out;
        }
    }
}

/// What moves elements between a range and a buffer. Its functions do not throw: they keep the
/// exception, and move all elements to where they should go, then in any order.
template <class Less>
class stable_mover {
public:
    explicit stable_mover(Less& less) noexcept : m_less(less) {}

    void rethrow() { m_error.rethrow(); }

    template <class A, class B, class Out>
    void merge(const forks& where, const sorted_pair<A, B>& in, Out out) noexcept {
        const std::size_t n = in.size();
        if (is_to_end(where)) {
            detail::move_elements(in.b, in.b_end, detail::move_elements(in.a, in.a_end, out));
            return;
        }
        if (n <= k_least_merge<Out> || !where.allowed_for(n)) {
            m_error.catch_from([&] { detail::merge_moves_here(in, out, m_less); });
            return;
        }
        std::size_t i = in.least_of_a(n / 2);
        m_error.catch_from([&] { i = detail::co_rank(in, n / 2, m_less); });
        detail::fork_both(
            where, [&](const forks& here) { merge(here, in.front(n / 2, i), out); },
            [&](const forks& here) { merge(here, in.behind(n / 2, i), detail::at(out, n / 2)); });
    }

    /// Sorts n elements, which are at `home`; `to_other`: the result belongs at `other`.
    template <class Home, class Other>
    void sort(const forks& where, Home home, Other other, std::size_t n, bool to_other) noexcept {
        if (n <= k_insertion || is_to_end(where)) {
            if (n <= k_insertion) {
                m_error.catch_from(
                    [&] { detail::insertion_sort(home, detail::at(home, n), m_less); });
            }
            if (to_other) {
                detail::move_elements(home, detail::at(home, n), other);
            }
            return;
        }
        const std::size_t half = n / 2;
        detail::fork_both(
            where.allowed_for(n) ? where : where.none(),
            [&](const forks& here) { sort(here, home, other, half, !to_other); },
            [&](const forks& here) {
                sort(here, detail::at(home, half), detail::at(other, half), n - half, !to_other);
            });
        if (to_other) {
            merge(where, halves_of(home, half, n), other);
        } else {
            merge(where, halves_of(other, half, n), home);
        }
    }

private:
    template <class Out>
    static constexpr std::size_t k_least_merge =
        k_is_plain<Out> ? k_merge_grain : k_merge_grain_of_objects;

    template <class It>
    static sorted_pair<It, It> halves_of(It first, std::size_t half, std::size_t n) {
        return {first, detail::at(first, half), detail::at(first, half), detail::at(first, n)};
    }

    bool is_to_end(const forks& where) const noexcept {
        return m_error.has_one() || where.stopped();
    }

    Less& m_less;
    kept_exception m_error;
};

/// Moves n elements to new ones in a buffer.
template <class It, class T>
void move_into(const forks& where, It first, std::size_t n, T* buffer) noexcept {
    detail::fork_parts(where, n, k_partition_grain, [&](std::size_t i, std::size_t last) {
        for (; i < last; ++i) {
            std::construct_at(buffer + i, std::ranges::iter_move(detail::at(first, i)));
        }
    });
}

template <class T>
void destroy_elements(const forks& where, T* buffer, std::size_t n) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
        detail::fork_parts(where, n, k_partition_grain, [&](std::size_t i, std::size_t last) {
            std::destroy(buffer + i, buffer + last);
        });
    }
}

/// Merges neighbours without a buffer: by rotations (Dudzinski and Dydek, "On a Stable Storage
/// Merging Algorithm", 1981).
template <class It, class Less>
void merge_in_place(const forks& where, It first, It middle, It last, Less& less) {
    const std::size_t left = detail::length(first, middle);
    const std::size_t right = detail::length(middle, last);
    if (left == 0 || right == 0 || where.stopped()) {
        return;
    }
    if (left + right == 2) {
        if (less(*middle, *first)) {
            detail::swap_elements(first, middle);
        }
        return;
    }
    It a = first;
    It b = middle;
    if (left > right) {
        a = detail::at(first, left / 2);
        b = detail::as_given(std::lower_bound(detail::as_standard(middle),
                                              detail::as_standard(last), *a, std::ref(less)));
    } else {
        b = detail::at(middle, right / 2);
        a = detail::as_given(std::upper_bound(detail::as_standard(first),
                                              detail::as_standard(middle), *b, std::ref(less)));
    }
    const It between = detail::rotate_here(a, middle, b);
    detail::fork_both(
        where.allowed_for(left + right) ? where : where.none(),
        [&](const forks& here) { detail::merge_in_place(here, first, a, between, less); },
        [&](const forks& here) { detail::merge_in_place(here, between, b, last, less); });
}

template <class It, class Less>
void sort_in_place(const forks& where, It first, std::size_t n, Less& less) {
    if (n <= k_insertion) {
        detail::insertion_sort(first, detail::at(first, n), less);
        return;
    }
    const It middle = detail::at(first, n / 2);
    detail::fork_both(
        where.allowed_for(n) ? where : where.none(),
        [&](const forks& here) { detail::sort_in_place(here, first, n / 2, less); },
        [&](const forks& here) { detail::sort_in_place(here, middle, n - n / 2, less); });
    detail::merge_in_place(where, first, middle, detail::at(first, n), less);
}

template <class It, class Less>
void stable_sort_elements(const forks& where, It first, std::size_t n, Less& less) {
    using element = std::iter_value_t<It>;
    if (n <= k_insertion) {
        detail::insertion_sort(first, detail::at(first, n), less);
        return;
    }
    if (detail::sort_ordered(where, first, n, less)) {
        return;
    }
    if constexpr (k_moves_safely<element>) {
        const scratch<element> buffer(n);
        if (buffer.get() != nullptr) {
            stable_mover<Less> mover(less);
            if constexpr (std::is_trivially_copyable_v<element> &&
                          std::is_trivially_default_constructible_v<element>) {
                mover.sort(where, first, buffer.get(), n, false);
            } else {
                detail::move_into(where, first, n, buffer.get());
                mover.sort(where, buffer.get(), first, n, true);
                detail::destroy_elements(where, buffer.get(), n);
            }
            mover.rethrow();
            return;
        }
    }
    detail::sort_in_place(where, first, n, less);
}

/// Merges a range `a` outside of its place with `b`, so that `b` ends where `out` does: one worker,
/// plain data, no branches. All elements have been moved also when it throws.
template <class It, class Less>
void merge_into_gap(sorted_pair<It, It> in, It out, Less less) {
    const auto merge_steps = [&](std::ptrdiff_t steps) {
        for (; steps != 0; --steps, ++out) {
            const bool is_b = less(*in.b, *in.a);
            const It from = is_b ? in.b : in.a;
            *out = *from;
            in.b += is_b ? 1 : 0;
            in.a += is_b ? 0 : 1;
        }
    };
    try {
        while (in.a != in.a_end && in.b != in.b_end) {
            merge_steps(std::min(in.a_end - in.a, in.b_end - in.b));
        }
    } catch (...) {
        std::copy(in.a, in.a_end, out);
        throw;
    }
    std::copy(in.a, in.a_end, out);
}

/// Merges neighbours of plain data with a buffer for the shorter one. False: there is no memory.
template <class T, class Less>
bool merge_plain_neighbours(T* first, T* middle, T* last, Less& less) {
    const std::size_t n = detail::length(first, middle);
    const std::size_t n2 = detail::length(middle, last);
    const scratch<T> buffer(std::min(n, n2));
    T* const copy = buffer.get();
    if (copy == nullptr) {
        return false;
    }
    auto comp = detail::for_chunk(less);
    if (n <= n2) {
        std::uninitialized_copy_n(first, n, copy);
        detail::merge_into_gap(sorted_pair<T*, T*>{copy, copy + n, middle, last}, first, comp);
    } else {  // from behind
        std::uninitialized_copy_n(middle, n2, copy);
        using back = std::reverse_iterator<T*>;
        detail::merge_into_gap(
            sorted_pair<back, back>{back(copy + n2), back(copy), back(middle), back(first)},
            back(last), [&comp](const T& a, const T& b) -> bool { return comp(b, a); });
    }
    return true;
}

/// Merges [first, middle) and [middle, last).
template <class It, class Less>
void merge_neighbours(const forks& where, It first, It middle, It last, Less& less) {
    using element = std::iter_value_t<It>;
    if (first == middle || middle == last) {
        return;
    }
    // What is in its place already.
    first = detail::as_given(std::upper_bound(
        detail::as_standard(first), detail::as_standard(middle), *middle, std::ref(less)));
    if (first == middle) {
        return;
    }
    last = detail::as_given(std::lower_bound(detail::as_standard(middle), detail::as_standard(last),
                                             *(middle - 1), std::ref(less)));
    if constexpr (k_merges_plain<It, It, It>) {
        if (where.slot == nullptr && detail::merge_plain_neighbours(first, middle, last, less)) {
            return;
        }
    }
    if constexpr (k_moves_safely<element>) {
        const std::size_t n = detail::length(first, last);
        const scratch<element> buffer(n);
        if (element* const copy = buffer.get()) {
            stable_mover<Less> mover(less);
            element* const half = copy + detail::length(first, middle);
            detail::move_into(where, first, n, copy);
            mover.merge(where, sorted_pair<element*, element*>{copy, half, half, copy + n}, first);
            detail::destroy_elements(where, copy, n);
            mover.rethrow();
            return;
        }
    }
    detail::merge_in_place(where, first, middle, last, less);
}

}  // namespace quern::detail
