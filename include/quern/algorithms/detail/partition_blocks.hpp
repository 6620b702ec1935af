// SPDX-License-Identifier: BSL-1.0
// A partition by several workers. Each takes pairs of blocks, one from either end of the range, and
// swaps elements between the two until one of them is uniform. A second step swaps what is left on
// the wrong side; with as many elements of both kinds that is little. After Tsigas and Zhang, "A
// simple, fast parallel implementation of quicksort" (PDP 2003), but with fixed pairs, so that the
// workers share nothing. The loop over a block has no branch for each element: Edelkamp and Weiss,
// "BlockQuicksort" (ESA 2016).
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/in_place.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

namespace quern::detail {

/// The elements of a block; a pair is done by one worker. 32 KiB of doubles.
inline constexpr std::size_t k_partition_block = 4'096;

/// Elements whose predicate is called before any of them moves. At most 256, places are bytes.
inline constexpr std::size_t k_partition_piece = 128;

/// Plain data up to this size in bytes is moved without a branch.
inline constexpr std::size_t k_small_element = 32;

template <class It>
inline constexpr bool k_has_small_elements = k_is_plain_data<std::iter_value_t<It>> &&
                                             sizeof(std::iter_value_t<It>) <= k_small_element;

/// An iterator moved back by a number of elements.
template <class It>
QUERN_ALWAYS_INLINE It before(const It& last, std::size_t n) {
    return last - static_cast<std::iter_difference_t<It>>(n);
}

/// Two ranges, the left of which is to get the elements that satisfy a predicate. Invariant: those
/// before `left` do, those from `right` on do not; in between nothing is known.
template <class It>
struct two_ends {
    It left;
    It left_end;
    It right_begin;
    It right;
};

/// Swaps in pieces while both ranges have one. Exceptions of the predicate leave all elements.
template <class It, class Pred>
void swap_pieces(two_ends<It>& ends, Pred& pred) {
    std::array<std::uint8_t, k_partition_piece> left_places;
    std::array<std::uint8_t, k_partition_piece> right_places;
    std::size_t left_next = 0, left_last = 0, right_next = 0, right_last = 0;
    while (detail::length(ends.left, ends.left_end) >= k_partition_piece &&
           detail::length(ends.right_begin, ends.right) >= k_partition_piece) {
        const It left = ends.left;
        const It right = detail::before(ends.right, 1);
        if (left_next == left_last) {
            left_next = left_last = 0;
            for (std::size_t i = 0; i < k_partition_piece; ++i) {
                left_places[left_last] = static_cast<std::uint8_t>(i);
                left_last += pred(*detail::at(left, i)) ? 0U : 1U;
            }
        }
        if (right_next == right_last) {
            right_next = right_last = 0;
            for (std::size_t i = 0; i < k_partition_piece; ++i) {
                right_places[right_last] = static_cast<std::uint8_t>(i);
                right_last += pred(*detail::before(right, i)) ? 1U : 0U;
            }
        }
        const std::size_t swaps = std::min(left_last - left_next, right_last - right_next);
        for (std::size_t i = 0; i < swaps; ++i) {
            detail::swap_elements(detail::at(left, left_places[left_next + i]),
                                  detail::before(right, right_places[right_next + i]));
        }
        left_next += swaps;
        right_next += swaps;
        if (left_next == left_last) {
            ends.left = detail::at(ends.left, k_partition_piece);
        }
        if (right_next == right_last) {
            ends.right = detail::before(ends.right, k_partition_piece);
        }
    }
}

/// Swaps until nothing is unknown of one of the ranges.
template <class It, class Pred>
void swap_ends(two_ends<It>& ends, Pred& pred) {
    if constexpr (k_has_small_elements<It>) {
        detail::swap_pieces(ends, pred);
    }
    for (;;) {
        while (ends.left != ends.left_end && pred(*ends.left)) {
            ++ends.left;
        }
        if (ends.left == ends.left_end) {
            return;
        }
        It last = ends.right;
        while (ends.right != ends.right_begin && !pred(*--last)) {
            ends.right = last;
        }
        if (ends.right == ends.right_begin) {
            return;
        }
        detail::swap_elements(ends.left, last);
        ++ends.left;
        ends.right = last;
    }
}

/// std::partition of one range, without a branch for each element if they are small plain data.
template <class It, class Pred>
It partition_alone(It first, It last, Pred& pred) {
    if constexpr (k_has_small_elements<It>) {
        while (detail::length(first, last) >= 4 * k_partition_piece) {
            const It middle = detail::at(first, detail::length(first, last) / 2);
            two_ends<It> halves{first, middle, middle, last};
            detail::swap_ends(halves, pred);
            first = halves.left;  // only one half has a rest, which is next to the other half
            last = halves.right;
        }
    }
    return detail::partition_here(first, last, detail::for_chunk(pred));
}

/// The blocks of a range by their distance from its ends.
class mirrored_blocks {
public:
    struct block {
        std::size_t first;
        std::size_t last;
    };

    explicit mirrored_blocks(std::size_t n) noexcept : m_size(n), m_right(n / 2) {}

    std::size_t pairs() const noexcept {
        return detail::divide_up(m_size - m_right, k_partition_block);
    }
    block left(std::size_t pair) const noexcept {
        const std::size_t most = m_size - m_right;
        return {std::min(pair * k_partition_block, most),
                std::min((pair + 1) * k_partition_block, most)};
    }
    block right(std::size_t pair) const noexcept {
        return {m_size - std::min((pair + 1) * k_partition_block, m_right),
                m_size - std::min(pair * k_partition_block, m_right)};
    }

private:
    std::size_t m_size;
    std::size_t m_right;  ///< elements of the right half
};

/// Where the elements that satisfy the predicate end in each block of a pair.
struct pair_ends {
    std::size_t left = 0;
    std::size_t right = 0;
};

template <class It, class Pred>
pair_ends partition_pair(It first, mirrored_blocks::block left, mirrored_blocks::block right,
                         Pred pred) {
    two_ends<It> ends{detail::at(first, left.first), detail::at(first, left.last),
                      detail::at(first, right.first), detail::at(first, right.last)};
    detail::swap_ends(ends, pred);
    if (ends.left == ends.left_end) {
        const It end = detail::partition_alone(ends.right_begin, ends.right, pred);
        return {left.last, detail::length(first, end)};
    }
    const It end = detail::partition_alone(ends.left, ends.left_end, pred);
    return {detail::length(first, end), right.first};
}

/// Places that are on the wrong side, as ranges that are numbered together.
class misplaced {
public:
    void add(std::size_t first, std::size_t last) {
        if (first < last) {
            m_ranges.push_back({m_count, first});
            m_count += last - first;
        }
    }

    std::size_t count() const noexcept { return m_count; }

    struct row {
        std::size_t first;
        std::size_t length;
    };
    /// The adjacent places from that number on.
    row from(std::size_t number) const {
        const auto next = std::upper_bound(
            m_ranges.begin(), m_ranges.end(), number,
            [](std::size_t wanted, const range& each) { return wanted < each.number; });
        const range& at = *std::prev(next);
        const std::size_t end = next == m_ranges.end() ? m_count : next->number;
        return {at.first + (number - at.number), end - number};
    }

private:
    struct range {
        std::size_t number;  ///< of its first place
        std::size_t first;
    };
    std::vector<range> m_ranges;
    std::size_t m_count = 0;
};

/// Swaps the elements of the wrong sides. `ends` are those of the blocks. Returns the number of
/// elements that satisfy the predicate.
template <class How, class It>
std::size_t swap_misplaced_parts(const How& how, It first, const mirrored_blocks& blocks,
                                 const std::vector<pair_ends>& ends) {
    std::size_t satisfying = 0;
    for (std::size_t pair = 0; pair < ends.size(); ++pair) {
        satisfying += ends[pair].left - blocks.left(pair).first;
        satisfying += ends[pair].right - blocks.right(pair).first;
    }
    misplaced before, behind;
    const auto add = [&](mirrored_blocks::block block, std::size_t end) {
        before.add(end, std::min(block.last, satisfying));
        behind.add(std::max(block.first, satisfying), end);
    };
    for (std::size_t pair = 0; pair < ends.size(); ++pair) {
        add(blocks.left(pair), ends[pair].left);
        add(blocks.right(pair), ends[pair].right);
    }
    detail::for_chunks(
        how, before.count(),
        [&](std::size_t i, std::size_t last) {
            while (i < last) {
                const auto one = before.from(i);
                const auto other = behind.from(i);
                const std::size_t size = std::min({one.length, other.length, last - i});
                const It from = detail::at(first, one.first);
                detail::swap_with(from, detail::at(from, size), detail::at(first, other.first));
                i += size;
            }
        },
        k_begin_with_elements<It>);
    return satisfying;
}

/// std::partition of n elements by the workers that are free. If the predicate throws, no element
/// is lost.
template <class How, class It, class Pred>
It partition_in_blocks(const How& policy, It first, std::size_t n, Pred& pred) {
    if (!detail::is_shared(policy)) {
        return detail::partition_here(first, detail::at(first, n), detail::for_chunk(pred));
    }
    const auto how = policy.in_lazy_chunks();
    const mirrored_blocks blocks(n);
    std::vector<pair_ends> ends(blocks.pairs());
    detail::for_chunks(how, ends.size(), [&](std::size_t pair, std::size_t last) {
        for (; pair < last; ++pair) {
            ends[pair] = detail::partition_pair(first, blocks.left(pair), blocks.right(pair),
                                                detail::for_chunk(pred));
        }
    });
    return detail::at(first, detail::swap_misplaced_parts(how, first, blocks, ends));
}

}  // namespace quern::detail
