// SPDX-License-Identifier: BSL-1.0
// Quicksort and selection by several workers: parts of a range are sorted in parallel, and large
// ranges are partitioned in parallel, each part on its own, after which misplaced elements are
// swapped. Used by sort, sort_by_key, nth_element and partial_sort.
#pragma once

#include <quern/algorithms/detail/forks.hpp>
#include <quern/algorithms/detail/quick_sort.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace quern::detail {

/// Up to so many elements are sorted by one worker: about 20 us for numbers, hundreds of forks.
inline constexpr std::size_t k_sort_grain = 1'024;
/// What a part of a parallel partition has at least: about 20 us for numbers.
inline constexpr std::size_t k_partition_grain = 16'384;
/// Fewer elements of plain data are sorted by the caller: about 3 us.
template <class It>
inline constexpr std::size_t k_begin_to_sort = k_is_plain<It> ? 128 : 1;

/// Parts of a range, in order, as one sequence of places.
class part_list {
public:
    static constexpr std::size_t k_most = 64;

    void add(std::size_t first, std::size_t last) noexcept {
        if (first < last) {
            m_first[m_count] = first;
            m_before[m_count + 1] = m_before[m_count] + (last - first);
            ++m_count;
        }
    }
    std::size_t size() const noexcept { return m_before[m_count]; }

    /// The place number `i`; `run` becomes at most the number of places that follow it directly,
    /// with itself.
    std::size_t place(std::size_t i, std::size_t& run) const noexcept {
        std::size_t part = 0;
        while (m_before[part + 1] <= i) {
            ++part;
        }
        run = std::min(run, m_before[part + 1] - i);
        return m_first[part] + (i - m_before[part]);
    }

private:
    std::array<std::size_t, k_most> m_first{};
    std::array<std::size_t, k_most + 1> m_before{};
    std::size_t m_count = 0;
};

/// Each part is partitioned; then those that go right and are before the common boundary change
/// places with those that go left and are behind it.
template <class It, class GoesLeft>
It partition_in_parts(const forks& where, It first, std::size_t n, GoesLeft& goes_left) {
    const std::size_t parts =
        std::min({part_list::k_most, where.workers * 2, n / k_partition_grain});
    const auto begin = [n, parts](std::size_t p) { return p == parts ? n : n / parts * p; };
    std::array<std::size_t, part_list::k_most> ends{};
    const auto partition_part = [&](std::size_t p) {
        detail::run_part(*where.stop, [&] {
            const It end = detail::partition_serially(detail::at(first, begin(p)),
                                                      detail::at(first, begin(p + 1)), goes_left);
            ends[p] = detail::length(first, end);
        });
    };
    detail::fork_each(where, 0, parts, partition_part);
    std::size_t boundary = 0;
    for (std::size_t p = 0; p < parts; ++p) {
        boundary += ends[p] - begin(p);
    }
    part_list to_right;
    part_list to_left;
    for (std::size_t p = 0; p < parts; ++p) {
        to_right.add(ends[p], std::min(begin(p + 1), boundary));
        to_left.add(std::max(begin(p), boundary), ends[p]);
    }
    detail::fork_parts(where, to_right.size(), k_partition_grain,
                       [&](std::size_t i, std::size_t last) {
                           while (i < last) {
                               std::size_t run = last - i;
                               const It a = detail::at(first, to_right.place(i, run));
                               const It b = detail::at(first, to_left.place(i, run));
                               for (std::size_t k = 0; k < run; ++k) {
                                   detail::swap_elements(detail::at(a, k), detail::at(b, k));
                               }
                               i += run;
                           }
                       });
    return detail::at(first, boundary);
}

/// The serial partition, or one by several workers where that is worthwhile.
struct shared_partition {
    forks where;

    template <class It, class GoesLeft>
    It operator()(It first, It last, GoesLeft goes_left) const {
        const std::size_t n = detail::length(first, last);
        return where.slot != nullptr && n >= 2 * k_partition_grain
                   ? detail::partition_in_parts(where, first, n, goes_left)
                   : detail::partition_serially(first, last, goes_left);
    }
};

/// Sorts a part of a range of `all` elements. Large parts are partitioned by several workers only
/// while there are fewer parts than workers.
template <class It, class Less>
void sort_part(const forks& where, It first, It last, Less& less, unsigned cuts, bool has_before,
               std::size_t all) {
    const std::size_t n = detail::length(first, last);
    if (where.stopped()) {
        return;
    }
    if (!where.allowed_for(n) || n <= k_insertion || cuts == 0) {
        const auto sort_here = [&] { detail::quick_sort(first, last, less, cuts, has_before); };
        if (where.stop != nullptr) {
            detail::run_part(*where.stop, sort_here);
        } else {
            sort_here();
        }
        return;
    }
    const shared_partition partition{n * where.workers > all ? where : where.none()};
    const cut<It> at = detail::run_part(
        *where.stop, [&] { return detail::cut_range(first, last, has_before, less, partition); });
    detail::fork_both(
        where,
        [&](const forks& here) {
            detail::sort_part(here, first, at.left_end, less, cuts - 1, has_before, all);
        },
        [&](const forks& here) {
            detail::sort_part(here, at.right, last, less, cuts - 1, true, all);
        });
}

/// Whether holds(a, b) for all neighbours. Most ranges for which it does not show that at once.
template <class It, class Holds>
bool all_neighbours(const forks& where, It first, std::size_t n, Holds holds) {
    constexpr std::size_t k_look = 1'024;  // neighbours between two looks at the result
    std::atomic<bool> result{true};        // relaxed: the joins order everything else
    const auto test = [&](std::size_t i, std::size_t last) {
        for (std::size_t end = i; i < last && result.load(std::memory_order_relaxed);) {
            for (end = std::min(last, end + k_look); i < end; ++i) {
                if (!holds(*detail::at(first, i), *detail::at(first, i + 1))) {
                    result.store(false, std::memory_order_relaxed);
                    return;
                }
            }
        }
    };
    const std::size_t pairs = n - 1;
    const std::size_t begin = std::min(pairs, k_look);
    test(0, begin);
    if (result.load(std::memory_order_relaxed)) {
        detail::fork_parts(where, pairs - begin, k_partition_grain,
                           [&](std::size_t i, std::size_t last) { test(begin + i, begin + last); });
    }
    return result.load(std::memory_order_relaxed);
}

/// Sorts a range that is in order, or in strictly descending order. False: it is not.
template <class It, class Less>
bool sort_ordered(const forks& where, It first, std::size_t n, Less& less) {
    if (n < 2) {
        return true;
    }
    if (!less(*detail::at(first, 1), *first)) {
        return detail::all_neighbours(
            where, first, n, [&less](const auto& a, const auto& b) -> bool { return !less(b, a); });
    }
    if (!detail::all_neighbours(where, first, n, [&less](const auto& a, const auto& b) -> bool {
            return less(b, a);
        })) {
        return false;
    }
    detail::fork_parts(where, n / 2, k_partition_grain, [&](std::size_t i, std::size_t last) {
        for (; i < last; ++i) {
            detail::swap_elements(detail::at(first, i), detail::at(first, n - 1 - i));
        }
    });
    return true;
}

/// Sorts n elements.
template <class How, class It, class Less>
void sort_range(const How& how, It first, std::size_t n, Less& less) {
    detail::with_forks(how, n, k_begin_to_sort<It>, k_sort_grain, [&](const forks& where) {
        if (!detail::sort_ordered(where, first, n, less)) {
            detail::sort_part(where, first, detail::at(first, n), less, detail::cuts_for(n), false,
                              n);
        }
    });
}

/// Puts the element `nth` into the place that it has in the sorted range, and those that are less
/// before it. Requires: nth is in the range.
template <class It, class Less>
void select_element(const forks& where, It first, It nth, It last, Less& less) {
    bool has_before = false;
    unsigned cuts = detail::cuts_for(detail::length(first, last));
    while (!where.stopped()) {
        const std::size_t n = detail::length(first, last);
        if (n <= k_insertion) {
            detail::insertion_sort(first, last, less);
            return;
        }
        if (cuts-- == 0) {
            detail::heap_sort(first, n, less);
            return;
        }
        const cut<It> at =
            detail::cut_range(first, last, has_before, less, shared_partition{where});
        if (nth < at.left_end) {
            last = at.left_end;
        } else if (nth < at.right) {
            return;
        } else {
            first = at.right;
            has_before = true;
        }
    }
}

}  // namespace quern::detail
