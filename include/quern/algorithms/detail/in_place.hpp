// SPDX-License-Identifier: BSL-1.0
// Serial algorithms that move elements within their range or to another one. Those of namespace std
// swap and move what * gives, which is the element only where that is a reference; over proxies
// (vector<bool>, zipped ranges) the loops of this file do it, by iter_move and assignment.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/sort_elements.hpp>
#include <quern/algorithms/detail/standard_iterator.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace quern::detail {

/// Whether the algorithms of namespace std that ask for a buffer may be called: libstdc++ does not
/// align it for elements of more than the usual alignment.
template <class It>
inline constexpr bool k_is_usual =
    k_gives_elements<It> && alignof(std::iter_value_t<It>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// Moves elements to a range that may begin before them. Returns its end.
template <class From, class To>
To move_elements(From first, From last, To to) {
    for (; first != last; ++first, ++to) {
        *to = std::ranges::iter_move(first);
    }
    return to;
}

/// The same; in one call where that moves bytes.
template <class It, class Out>
Out move_range(It first, It last, Out to) {
    if constexpr (std::is_reference_v<std::iter_reference_t<It>>) {
        return detail::as_given(std::move(detail::as_standard(first), detail::as_standard(last),
                                          detail::as_standard(to)));
    } else {
        return detail::move_elements(first, last, to);
    }
}

/// Swaps elements with those of a range that does not overlap theirs. Returns its end.
template <class It, class It2>
It2 swap_with(It first, It last, It2 other) {
    if constexpr (k_gives_elements<It> && k_gives_elements<It2>) {
        return detail::as_given(std::swap_ranges(
            detail::as_standard(first), detail::as_standard(last), detail::as_standard(other)));
    } else {
        for (; first != last; ++first, ++other) {
            std::iter_value_t<It> kept = detail::take(first);
            *first = std::ranges::iter_move(other);
            *other = std::move(kept);
        }
        return other;
    }
}

template <class It>
void reverse_here(It first, It last) {
    if constexpr (k_gives_elements<It>) {
        std::reverse(detail::as_standard(first), detail::as_standard(last));
    } else {
        while (first != last && first != --last) {
            detail::swap_elements(first, last);
            ++first;
        }
    }
}

/// Moves the elements so that `middle` becomes the first one. Returns the place of the former first
/// one.
template <class It>
It rotate_here(It first, It middle, It last) {
    if constexpr (k_gives_elements<It>) {
        return detail::as_given(std::rotate(detail::as_standard(first), detail::as_standard(middle),
                                            detail::as_standard(last)));
    } else {
        if (first == middle || middle == last) {
            return first == middle ? last : first;
        }
        // Fills the range from its beginning; what is left is a shorter rotation.
        const auto fill_from_middle = [&] {
            for (It from = middle; from != last; ++first, ++from) {
                if (first == middle) {
                    middle = from;
                }
                detail::swap_elements(first, from);
            }
        };
        fill_from_middle();
        const It result = first;
        while (first != middle) {
            fill_from_middle();
        }
        return result;
    }
}

/// std::remove_if.
template <class It, class Pred>
It remove_here(It first, It last, Pred pred) {
    if constexpr (k_gives_elements<It>) {
        return detail::as_given(
            std::remove_if(detail::as_standard(first), detail::as_standard(last), pred));
    } else {
        while (first != last && !pred(*first)) {
            ++first;
        }
        It end = first;
        for (; first != last; ++first) {
            if (!pred(*first)) {
                *end = std::ranges::iter_move(first);
                ++end;
            }
        }
        return end;
    }
}

/// std::unique.
template <class It, class Same>
It unique_here(It first, It last, Same same) {
    if constexpr (k_gives_elements<It>) {
        return detail::as_given(
            std::unique(detail::as_standard(first), detail::as_standard(last), same));
    } else {
        if (first == last) {
            return last;
        }
        It kept = first;
        while (++first != last) {
            if (!same(*kept, *first) && ++kept != first) {
                *kept = std::ranges::iter_move(first);
            }
        }
        return ++kept;
    }
}

/// std::partition.
template <class It, class Pred>
It partition_here(It first, It last, Pred pred) {
    if constexpr (k_gives_elements<It>) {
        return detail::as_given(
            std::partition(detail::as_standard(first), detail::as_standard(last), pred));
    } else {
        while (first != last && pred(*first)) {
            ++first;
        }
        for (It i = first; i != last; ++i) {
            if (pred(*i)) {
                detail::swap_elements(first, i);
                ++first;
            }
        }
        return first;
    }
}

/// A stable partition of n > 0 elements without a buffer, by rotations. Returns the ends of the
/// first kind and of the range.
template <class It, class Pred>
std::pair<It, It> partition_by_rotations(It first, std::size_t n, Pred& pred) {
    if (n == 1) {
        It behind = first;
        ++behind;
        return {pred(*first) ? behind : first, behind};
    }
    const auto [left, middle] = detail::partition_by_rotations(first, n / 2, pred);
    const auto [right, last] = detail::partition_by_rotations(middle, n - n / 2, pred);
    return {detail::rotate_here(left, middle, right), last};
}

}  // namespace quern::detail
