// SPDX-License-Identifier: BSL-1.0
// The least k of n elements, sorted. If they are few, each worker finds those of its part; else
// the range is cut at the place k as for nth_element.
#pragma once

#include <quern/algorithms/detail/parallel_quick_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace quern::detail {

/// A heap of k elements is faster than a cut up to n / k_few elements. Guessed.
inline constexpr std::size_t k_few = 256;

/// Moves the k least of n elements to the front, k <= n / k_few.
template <class It, class Less>
void select_few(const forks& where, It first, std::size_t k, std::size_t n, Less& less) {
    std::size_t parts = where.slot == nullptr ? 1 : std::min(where.workers, n / k_partition_grain);
    while (parts > 1 && parts * parts * k > n) {
        --parts;
    }
    if (parts < 2) {
        detail::heap_select(first, k, n, less);
        return;
    }
    const auto begin = [n, parts](std::size_t p) { return p == parts ? n : n / parts * p; };
    const auto select_part = [&](std::size_t p) {
        detail::run_part(*where.stop, [&] {
            detail::heap_select(detail::at(first, begin(p)), k, begin(p + 1) - begin(p), less);
        });
    };
    detail::fork_each(where, 0, parts, select_part);
    for (std::size_t p = 1; p < parts; ++p) {
        for (std::size_t i = 0; i < k; ++i) {
            detail::swap_elements(detail::at(first, p * k + i), detail::at(first, begin(p) + i));
        }
    }
    detail::heap_select(first, k, parts * k, less);
}

/// Sorts the k least of n elements and moves them to the front.
template <class It, class Less>
void sort_least(const forks& where, It first, std::size_t k, std::size_t n, Less& less) {
    if (k == 0) {
        return;
    }
    const It middle = detail::at(first, k);
    if (k <= n / k_few) {
        detail::select_few(where, first, k, n, less);
    } else if (k < n) {
        detail::select_element(where, first, middle - 1, detail::at(first, n), less);
    }
    detail::sort_part(where, first, middle, less, detail::cuts_for(k), false, k);
}

/// The k least of n elements that must stay as they are, k > 0: a heap of copies.
template <class In, class Less>
class least_copies {
public:
    using element = std::iter_value_t<In>;

    least_copies(std::size_t k, Less& less) : m_k(k), m_less(less) {}

    /// Of one part. Requires: at least k elements.
    std::vector<element> of_part(In first, In last) const {
        In i = detail::at(first, m_k);
        std::vector<element> least(detail::as_standard(first), detail::as_standard(i));
        detail::make_heap(least.data(), m_k, m_less);
        for (; i != last; ++i) {
            if (m_less(*i, least.front())) {
                least.front() = *i;
                detail::sift_down(least.data(), m_k, 0, m_less);
            }
        }
        return least;
    }

    /// Adds those of a part; any thread.
    void add(std::vector<element>&& part) {
        const std::scoped_lock lock(m_mutex);
        m_all.insert(m_all.end(), std::make_move_iterator(part.begin()),
                     std::make_move_iterator(part.end()));
    }
    std::vector<element>& all() noexcept { return m_all; }

private:
    const std::size_t m_k;
    Less& m_less;
    std::mutex m_mutex{};
    std::vector<element> m_all{};
};

/// Copies the k least of n elements to `out`, sorted. 0 < k <= n.
template <class In, class Out, class Less>
void copy_least(const forks& where, In first, std::size_t n, Out out, std::size_t k, Less& less) {
    least_copies<In, Less> least(k, less);
    if (k <= n / k_few) {
        detail::fork_parts(
            where, n, std::max(k_partition_grain, 4 * k), [&](std::size_t i, std::size_t last) {
                least.add(least.of_part(detail::at(first, i), detail::at(first, last)));
            });
    } else {
        least.all().assign(detail::as_standard(first), detail::as_standard(detail::at(first, n)));
    }
    if (!where.stopped()) {
        detail::sort_least(where, least.all().data(), k, least.all().size(), less);
        std::move(least.all().begin(), least.all().begin() + static_cast<std::ptrdiff_t>(k),
                  detail::as_standard(out));
    }
}

/// std::partial_sort_copy, which moves what * of the results gives: over proxies a heap.
template <class In, class Out, class Less>
Out copy_least_here(In first, In last, Out out, Out out_end, Less& less) {
    if constexpr (k_gives_elements<Out>) {
        return detail::as_given(std::partial_sort_copy(
            detail::as_standard(first), detail::as_standard(last), detail::as_standard(out),
            detail::as_standard(out_end), detail::for_chunk(less)));
    } else {
        Out end = out;
        for (; first != last && end != out_end; ++first, ++end) {
            *end = *first;
        }
        const std::size_t k = detail::length(out, end);
        detail::make_heap(out, k, less);
        for (; first != last && k != 0; ++first) {
            if (less(*first, *out)) {
                *out = *first;
                detail::sift_down(out, k, 0, less);
            }
        }
        detail::heap_sort(out, k, less);
        return end;
    }
}

}  // namespace quern::detail
