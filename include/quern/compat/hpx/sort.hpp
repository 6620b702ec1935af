// SPDX-License-Identifier: BSL-1.0
// hpx::sort and stable_sort: the halves are sorted in parallel.
#pragma once

#include <quern/compat/hpx/policy.hpp>
#include <quern/task/fork_join.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace hpx {

namespace detail {

/// Below it a standard sort is faster than a split: guessed, some 50 us of work.
inline constexpr std::ptrdiff_t k_sort_serially = 2048;

/// Quicksort by the median of three; uses a standard sort after `depth` bad splits.
template <class It, class Less>
void quick_sort(It first, It last, Less& less, int depth) {
    if (last - first <= k_sort_serially || depth == 0) {
        std::sort(first, last, less);
        return;
    }
    const It middle = first + (last - first) / 2;
    if (less(*middle, *first)) {
        std::iter_swap(middle, first);
    }
    if (less(*(last - 1), *first)) {
        std::iter_swap(last - 1, first);
    }
    if (less(*(last - 1), *middle)) {
        std::iter_swap(last - 1, middle);
    }
    std::iter_swap(middle, last - 2);
    const It pivot = last - 2;
    It left = first;
    It right = pivot;
    for (;;) {
        while (less(*++left, *pivot)) {
        }
        while (less(*pivot, *--right)) {
        }
        if (left >= right) {
            break;
        }
        std::iter_swap(left, right);
    }
    std::iter_swap(left, pivot);
    quern::fork_join([&] { quick_sort(first, left, less, depth - 1); },
                     [&] { quick_sort(left + 1, last, less, depth - 1); });
}

template <class It, class Less>
void merge_sort(It first, It last, Less& less) {
    if (last - first <= k_sort_serially) {
        std::stable_sort(first, last, less);
        return;
    }
    const It middle = first + (last - first) / 2;
    quern::fork_join([&] { merge_sort(first, middle, less); },
                     [&] { merge_sort(middle, last, less); });
    std::inplace_merge(first, middle, last, less);
}

}  // namespace detail

template <detail::policy Policy, class It, class Less = std::less<>>
auto sort(Policy&& how, It first, It last, Less less = {}) {
    return detail::run_under(how, [=]() mutable {
        if constexpr (detail::k_splits<Policy, It>) {
            const auto size = static_cast<std::size_t>(last - first);
            detail::quick_sort(first, last, less, 2 * static_cast<int>(std::bit_width(size)));
        } else {
            std::sort(first, last, less);
        }
    });
}
template <class It, class Less = std::less<>>
    requires(!detail::policy<It>)
void sort(It first, It last, Less less = {}) { std::sort(first, last, less); }

template <detail::policy Policy, class It, class Less = std::less<>>
auto stable_sort(Policy&& how, It first, It last, Less less = {}) {
    return detail::run_under(how, [=]() mutable {
        if constexpr (detail::k_splits<Policy, It>) {
            detail::merge_sort(first, last, less);
        } else {
            std::stable_sort(first, last, less);
        }
    });
}
template <detail::policy Policy, class It, class Less = std::less<>>
auto is_sorted(Policy&& how, It first, It last, Less less = {}) {
    return detail::run_under(how, [=]() -> bool {
        const std::size_t n = detail::count_between(first, last);
        return n < 2 ||
               detail::find_index<detail::k_splits<Policy, It>>(how, n - 1, [&](std::size_t i) {
                   return less(*detail::moved(first, i + 1), *detail::moved(first, i));
               }) == n - 1;
    });
}

}  // namespace hpx
