// SPDX-License-Identifier: BSL-1.0
// Quicksort on one thread: introsort (Musser 1997), where plain data is partitioned without
// branches (Edelkamp and Weiss, "BlockQuicksort", 2016, section 3) and many equal elements take
// linear time (Peters, "Pattern-defeating Quicksort", 2021, section 3.1). Called by
// parallel_quick_sort.hpp.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/sort_elements.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace quern::detail {

/// The elements of a block of which the misplaced ones are noted, in a byte each.
inline constexpr std::size_t k_offsets = 64;

/// The partition of a few elements. Without a branch: each is swapped to the end of the left ones,
/// which grow only if it is one of them.
template <class It, class GoesLeft>
It partition_by_swaps(It first, It last, GoesLeft& goes_left) {
    It left_end = first;
    for (It i = first; i != last; ++i) {
        const bool is_left = goes_left(*i);
        detail::swap_elements(i, left_end);
        left_end += is_left ? 1 : 0;
    }
    return left_end;
}

/// Swaps `count` pairs of misplaced elements.
template <class It>
void swap_misplaced(It first, It last, const std::uint8_t* left, const std::uint8_t* right,
                    std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        detail::swap_elements(first + left[i], last - 1 - right[i]);
    }
}

/// For plain data: whether an element goes left is not a branch but the length of a list.
template <class It, class GoesLeft>
QUERN_NOINLINE It partition_in_blocks(It first, It last, GoesLeft goes_left) {
    std::array<std::uint8_t, k_offsets> left;   // from `first`, elements that go right
    std::array<std::uint8_t, k_offsets> right;  // before `last`, elements that go left
    std::size_t left_begin = 0;
    std::size_t left_end = 0;
    std::size_t right_begin = 0;
    std::size_t right_end = 0;
    while (detail::length(first, last) > 2 * k_offsets) {
        if (left_begin == left_end) {
            left_begin = left_end = 0;
            for (std::size_t i = 0; i < k_offsets; ++i) {
                left[left_end] = static_cast<std::uint8_t>(i);
                left_end += goes_left(*detail::at(first, i)) ? 0U : 1U;
            }
        }
        if (right_begin == right_end) {
            right_begin = right_end = 0;
            for (std::size_t i = 0; i < k_offsets; ++i) {
                right[right_end] = static_cast<std::uint8_t>(i);
                right_end += goes_left(*(detail::at(last - 1, 0) -
                                         static_cast<std::iter_difference_t<It>>(i)))
                                 ? 1U
                                 : 0U;
            }
        }
        const std::size_t count = std::min(left_end - left_begin, right_end - right_begin);
        detail::swap_misplaced(first, last, left.data() + left_begin, right.data() + right_begin,
                               count);
        left_begin += count;
        right_begin += count;
        if (left_begin == left_end) {
            first += k_offsets;
        }
        if (right_begin == right_end) {
            last -= k_offsets;
        }
    }
    return detail::partition_by_swaps(first, last, goes_left);
}

/// Moves the elements for which goes_left(element) is true to the front; returns their end.
template <class It, class GoesLeft>
It partition_serially(It first, It last, GoesLeft goes_left) {
    if constexpr (k_is_plain<It>) {
        return detail::partition_in_blocks(first, last, goes_left);
    } else {
        for (;; ++first) {
            while (first != last && goes_left(*first)) {
                ++first;
            }
            do {
                if (first == last) {
                    return first;
                }
                --last;
            } while (!goes_left(*last));
            detail::swap_elements(first, last);
        }
    }
}

/// About the median of n elements: of three, of three such medians, and so on.
template <class It, class Less>
It pseudo_median(It first, std::size_t n, unsigned levels, Less& less) {
    if (levels == 0) {
        return detail::at(first, n / 2);
    }
    const std::size_t third = n / 3;
    const It a = detail::pseudo_median(first, third, levels - 1, less);
    const It b = detail::pseudo_median(detail::at(first, third), third, levels - 1, less);
    const It c = detail::pseudo_median(detail::at(first, 2 * third), third, levels - 1, less);
    if (less(*a, *b)) {
        return less(*b, *c) ? b : less(*a, *c) ? c : a;
    }
    return less(*a, *c) ? a : less(*b, *c) ? c : b;
}

/// 3, 9, 27 or 81 elements are looked at. Guessed.
constexpr unsigned levels_for(std::size_t n) noexcept {
    return n < 128 ? 1 : n < 8'192 ? 2 : n < 1'000'000 ? 3 : 4;
}

/// [left_end, right) is sorted and in its final place.
template <class It>
struct cut {
    It left_end;
    It right;
};

/// A pivot: a copy of plain data, so that it can be in a register, else the element itself, which
/// stays in its place during the partition.
template <class It, bool = k_is_plain<It>>
class pivot_at {
public:
    explicit pivot_at(It place) : m_value(*place) {}
    const std::iter_value_t<It>& get() const noexcept { return m_value; }

private:
    std::iter_value_t<It> m_value;
};
template <class It>
class pivot_at<It, false> {
public:
    explicit pivot_at(It place) : m_place(place) {}
    decltype(auto) get() const { return *m_place; }

private:
    It m_place;
};

template <class It, class Less>
struct is_less_than_pivot {
    pivot_at<It> pivot;
    Less less;

    bool operator()(const auto& element) { return less(element, pivot.get()); }
};
template <class It, class Less>
struct is_not_greater_than_pivot {
    pivot_at<It> pivot;
    Less less;

    bool operator()(const auto& element) { return !less(pivot.get(), element); }
};

/// partition_serially as a function object.
struct serial_partition {
    template <class It, class GoesLeft>
    It operator()(It first, It last, GoesLeft goes_left) const {
        return detail::partition_serially(first, last, goes_left);
    }
};

/// Partitions around an element. If `has_before`, the element before `first` is not greater than
/// any in the range. partition(first, last, goes_left) as partition_serially. Requires: first !=
/// last.
template <class It, class Less, class Partition>
cut<It> cut_range(It first, It last, bool has_before, Less& less, const Partition& partition) {
    const std::size_t n = detail::length(first, last);
    detail::swap_elements(first, detail::pseudo_median(first, n, detail::levels_for(n), less));
    const pivot_at<It> pivot(first);
    auto comp = detail::for_chunk(less);
    if (has_before && !less(*(first - 1), *first)) {
        // Equal to the one before: those that are equal, too, need no more work.
        return {first, partition(first + 1, last,
                                 is_not_greater_than_pivot<It, decltype(comp)>{pivot, comp})};
    }
    const It right =
        partition(first + 1, last, is_less_than_pivot<It, decltype(comp)>{pivot, comp});
    detail::swap_elements(first, right - 1);
    return {right - 1, right};
}

/// How often a range of n elements may be cut before another algorithm sorts the rest.
constexpr unsigned cuts_for(std::size_t n) noexcept {
    return 2 * static_cast<unsigned>(std::bit_width(n));
}

template <class It, class Less>
void quick_sort(It first, It last, Less& less, unsigned cuts, bool has_before) {
    for (;;) {
        const std::size_t n = detail::length(first, last);
        if (n <= k_insertion) {
            detail::insertion_sort(first, last, less);
            return;
        }
        if (cuts-- == 0) {
            detail::heap_sort(first, n, less);
            return;
        }
        const cut<It> at = detail::cut_range(first, last, has_before, less, serial_partition());
        detail::quick_sort(first, at.left_end, less, cuts, has_before);
        first = at.right;
        has_before = true;
    }
}

}  // namespace quern::detail
