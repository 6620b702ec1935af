// SPDX-License-Identifier: BSL-1.0
// What sorting does to single elements: moves, swaps, insertion, heaps. Each function leaves a
// permutation of the elements when a comparison throws, and stays in the range when comparisons
// contradict each other. Iterators may have references that are objects (key_value_iterator).
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/trivial_copy.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// Elements of plain data are cheap to move also where that turns out to be in vain.
template <class It>
inline constexpr bool k_is_plain = k_is_plain_data<std::iter_value_t<It>> &&
                                   sizeof(std::iter_value_t<It>) <= 64;

/// Whether elements may be outside of their range for a while.
template <class T>
inline constexpr bool k_moves_safely =
    std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T>;

/// A pointer, if the elements are contiguous, so that less code is made of each algorithm.
template <class It>
QUERN_ALWAYS_INLINE auto as_pointer(It it) {
    if constexpr (std::contiguous_iterator<It>) {
        return std::to_address(it);
    } else {
        return it;
    }
}

template <class It>
QUERN_ALWAYS_INLINE std::iter_value_t<It> take(const It& from) {
    return std::iter_value_t<It>(std::ranges::iter_move(from));
}

template <class It>
QUERN_ALWAYS_INLINE void swap_elements(const It& a, const It& b) {
    if constexpr (std::is_lvalue_reference_v<std::iter_reference_t<It>>) {
        std::ranges::swap(*a, *b);
    } else {
        std::iter_value_t<It> kept = detail::take(a);
        *a = detail::take(b);
        *b = std::move(kept);
    }
}

/// An element outside of its range, which leaves a hole there. At the end it fills the hole.
/// Requires: k_moves_safely.
template <class It>
class lifted {
public:
    explicit lifted(It from) : m_hole(from), m_value(detail::take(from)) {}
    lifted(const lifted&) = delete;
    lifted& operator=(const lifted&) = delete;
    ~lifted() { *m_hole = std::move(m_value); }

    const std::iter_value_t<It>& value() const noexcept { return m_value; }
    const It& hole() const noexcept { return m_hole; }
    void fill_from(It other) {
        *m_hole = std::ranges::iter_move(other);
        m_hole = other;
    }

private:
    It m_hole;
    std::iter_value_t<It> m_value;
};

/// Up to so many elements are sorted by insertion. As in other libraries.
inline constexpr std::size_t k_insertion = 24;

/// Stable.
template <class It, class Less>
void insertion_sort(It first, It last, Less& less) {
    if (first == last) {
        return;
    }
    for (It i = first + 1; i != last; ++i) {
        if constexpr (!k_moves_safely<std::iter_value_t<It>>) {
            for (It j = i; j != first && less(*j, *(j - 1)); --j) {
                detail::swap_elements(j, j - 1);
            }
        } else if (less(*i, *(i - 1))) {
            lifted<It> moved(i);
            do {
                moved.fill_from(moved.hole() - 1);
            } while (moved.hole() != first && less(moved.value(), *(moved.hole() - 1)));
        }
    }
}

/// Restores a heap of n elements in which the one at `i` may be too small.
template <class It, class Less>
void sift_down(It first, std::size_t n, std::size_t i, Less& less) {
    using difference = std::iter_difference_t<It>;
    const auto element = [first](std::size_t k) { return first + static_cast<difference>(k); };
    for (std::size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && less(*element(child), *element(child + 1))) {
            ++child;
        }
        if (!less(*element(i), *element(child))) {
            return;
        }
        detail::swap_elements(element(i), element(child));
        i = child;
    }
}

template <class It, class Less>
void make_heap(It first, std::size_t n, Less& less) {
    for (std::size_t i = n / 2; i-- > 0;) {
        detail::sift_down(first, n, i, less);
    }
}

template <class It, class Less>
void heap_sort(It first, std::size_t n, Less& less) {
    detail::make_heap(first, n, less);
    while (n > 1) {
        --n;
        detail::swap_elements(first, first + static_cast<std::iter_difference_t<It>>(n));
        detail::sift_down(first, n, 0, less);
    }
}

/// Moves the k least of n elements to the front, in any order.
template <class It, class Less>
void heap_select(It first, std::size_t k, std::size_t n, Less& less) {
    detail::make_heap(first, k, less);
    const It last = first + static_cast<std::iter_difference_t<It>>(n);
    for (It i = first + static_cast<std::iter_difference_t<It>>(k); i != last; ++i) {
        if (less(*i, *first)) {
            detail::swap_elements(i, first);
            detail::sift_down(first, k, 0, less);
        }
    }
}

}  // namespace quern::detail
