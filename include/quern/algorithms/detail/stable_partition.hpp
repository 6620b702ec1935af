// SPDX-License-Identifier: BSL-1.0
// Partitions that keep the order, by several workers. In place: each group of elements keeps those
// that satisfy the predicate at its beginning and moves the others into a buffer; then both kinds
// move to where they belong. Into two ranges: a compaction.
#pragma once

#include <quern/algorithms/detail/compaction.hpp>
#include <quern/algorithms/detail/in_place.hpp>
#include <quern/algorithms/detail/partition_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

/// Groups per worker, so that a late worker has less to do.
inline constexpr std::size_t k_groups_per_worker = 4;
/// The least size of a group. Guessed.
inline constexpr std::size_t k_smallest_group = 64;
/// Elements move in parallel, within a range, if it is by at least this many places. Guessed: about
/// 4 us of moves.
inline constexpr std::size_t k_far_move = 16'384;

/// Groups of a range, and a buffer as long as the range for elements that do not satisfy the
/// predicate.
template <class It>
class stable_groups {
public:
    using element = std::iter_value_t<It>;

    stable_groups(It first, std::size_t n, std::size_t count)
        : m_first(first), m_size(detail::divide_up(n, count)), m_groups(count) {
        for (std::size_t g = 0; g < count; ++g) {
            m_groups[g].first = std::min(g * m_size, n);
            m_groups[g].last = std::min((g + 1) * m_size, n);
        }
        m_buffer.reset(static_cast<element*>(
            ::operator new(n * sizeof(element), std::align_val_t(alignof(element)), std::nothrow)));
    }
    stable_groups(const stable_groups&) = delete;
    stable_groups& operator=(const stable_groups&) = delete;
    ~stable_groups() {
        for (const group& each : m_groups) {
            std::destroy_n(m_buffer.get() + each.first, each.others);
        }
    }

    bool has_buffer() const noexcept { return m_buffer != nullptr; }
    std::size_t count() const noexcept { return m_groups.size(); }

    /// Divides the elements of a group. Requires: a buffer.
    template <class Pred>
    void divide(std::size_t number, Pred pred) {
        group& here = m_groups[number];
        const It end = detail::at(m_first, here.last);
        It from = detail::at(m_first, here.first);
        It to = from;
        element* const begin = m_buffer.get() + here.first;
        element* other = begin;
        const auto store = [&] {
            here.satisfying = detail::length(detail::at(m_first, here.first), to);
            here.others = static_cast<std::size_t>(other - begin);
        };
        try {
            for (; from != end; ++from) {
                const bool is_satisfied = pred(*from);
                if constexpr (k_has_small_elements<It>) {  // without a branch
                    std::construct_at(other, *from);
                    *to = std::ranges::iter_move(from);
                    to = detail::at(to, is_satisfied ? 1U : 0U);
                    other += is_satisfied ? 0 : 1;
                } else if (!is_satisfied) {
                    std::construct_at(other, std::ranges::iter_move(from));
                    ++other;
                } else {
                    if (to != from) {
                        *to = std::ranges::iter_move(from);
                    }
                    ++to;
                }
            }
        } catch (...) {
            store();
            throw;
        }
        store();
    }

    /// Moves everything back into its group.
    void restore() {
        for (const group& each : m_groups) {
            element* const other = m_buffer.get() + each.first;
            detail::move_range(other, other + each.others,
                               detail::at(m_first, each.first + each.satisfying));
        }
    }

    /// Moves everything to where it belongs. Returns the number of elements that satisfy the
    /// predicate.
    template <class How>
    std::size_t join(const How& how) {
        std::size_t next = 0;
        for (const group& each : m_groups) {
            move_down(how, each.first, each.satisfying, next);
            next += each.satisfying;
        }
        const std::size_t satisfying = next;
        for (const group& each : m_groups) {
            element* const from = m_buffer.get() + each.first;
            const It to = detail::at(m_first, next);
            detail::for_chunks(
                how, each.others,
                [&](std::size_t i, std::size_t end) {
                    detail::move_range(from + i, from + end, detail::at(to, i));
                },
                k_begin_with_elements<It>);
            next += each.others;
        }
        return satisfying;
    }

private:
    struct group {
        std::size_t first = 0;
        std::size_t last = 0;
        std::size_t satisfying = 0;  ///< elements at its beginning
        std::size_t others = 0;      ///< elements in the buffer, from the group's place there on
    };

    struct deleter {
        void operator()(element* memory) const noexcept {
            ::operator delete(memory, std::align_val_t(alignof(element)));
        }
    };

    /// Moves elements to a place before them: in steps that do not overlap, each in parallel, or
    /// in one if it is near.
    template <class How>
    void move_down(const How& how, std::size_t from, std::size_t count, std::size_t to) {
        const std::size_t by = from - to;
        if (by == 0 || count == 0) {
            return;
        }
        const It begin = detail::at(m_first, from);
        if (by < std::min(count, k_far_move)) {
            detail::move_range(begin, detail::at(begin, count), detail::at(m_first, to));
            return;
        }
        for (std::size_t done = 0; done < count; done += by) {
            const It step = detail::at(begin, done);
            const It place = detail::at(m_first, to + done);
            detail::for_chunks(
                how, std::min(by, count - done),
                [&](std::size_t i, std::size_t end) {
                    detail::move_range(detail::at(step, i), detail::at(step, end),
                                       detail::at(place, i));
                },
                k_begin_with_elements<It>);
        }
    }

    const It m_first;
    const std::size_t m_size;
    std::vector<group> m_groups;
    std::unique_ptr<element, deleter> m_buffer;
};

/// std::stable_partition; by rotations where libstdc++'s buffer would not do.
template <class It, class Pred>
It stable_partition_here(It first, It last, Pred& pred) {
    if constexpr (k_is_usual<It>) {
        return detail::as_given(std::stable_partition(
            detail::as_standard(first), detail::as_standard(last), detail::for_chunk(pred)));
    } else {
        const auto n = static_cast<std::size_t>(std::ranges::distance(first, last));
        return n == 0 ? last : detail::partition_by_rotations(first, n, pred).first;
    }
}

/// std::stable_partition of n elements by the workers that are free.
template <class How, class It, class Pred>
It stable_partition_in_groups(const How& policy, It first, std::size_t n, Pred& pred) {
    if (!detail::is_shared(policy) || n <= k_smallest_group) {
        return detail::stable_partition_here(first, detail::at(first, n), pred);
    }
    const auto how = policy.in_lazy_chunks();
    const std::size_t wanted = k_groups_per_worker * detail::sharers(policy);
    stable_groups<It> groups(first, n, std::min(wanted, detail::divide_up(n, k_smallest_group)));
    if (!groups.has_buffer()) {
        return detail::stable_partition_here(first, detail::at(first, n), pred);
    }
    try {
        detail::for_chunks(how, groups.count(), [&](std::size_t g, std::size_t last) {
            for (; g < last; ++g) {
                groups.divide(g, detail::for_chunk(pred));
            }
        });
    } catch (...) {
        groups.restore();
        throw;
    }
    return detail::at(first, groups.join(how));
}

template <class It, class Out, class Out2, class Pred>
std::pair<Out, Out2> partition_copy_here(It first, It last, Out out, Out2 out2, Pred& pred) {
    return detail::as_given(std::partition_copy(
        detail::as_standard(first), detail::as_standard(last), detail::as_standard(out),
        detail::as_standard(out2), detail::for_chunk(pred)));
}

/// Returns the ends of both copies.
template <class How, class It, class Out, class Out2, class Pred>
std::pair<Out, Out2> partition_copy_in_blocks(const How& how, It first, std::size_t n, Out out,
                                              Out2 out2, Pred& pred) {
    if (n == 0 || !detail::is_shared(how)) {
        return detail::partition_copy_here(first, detail::at(first, n), out, out2, pred);
    }
    const auto is_kept = [&pred](const It& i) -> bool { return pred(*i); };
    compaction<It, decltype(is_kept), both_kinds<Out, Out2>> work(first, is_kept, {out, out2});
    const std::size_t count = detail::run_in_order(how, n, work, std::size_t{0}, 1);
    return {detail::at(out, count), detail::at(out2, n - count)};
}

}  // namespace quern::detail
