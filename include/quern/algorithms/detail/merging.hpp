// SPDX-License-Identifier: BSL-1.0
// Merging two sorted ranges. Several workers divide the result: where a place of it comes from is
// found by binary search (co-ranking: Siebert and Träff, "Efficient MPI Implementation of a
// Parallel, Stable Merge Algorithm", 2012, section 2). Used by merge.hpp and merge_sort.hpp.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/forks.hpp>
#include <quern/algorithms/detail/sort_elements.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// One worker merges up to so many elements: about 20 us for numbers; the search takes 0.2 us.
inline constexpr std::size_t k_merge_grain = 8'192;
/// The same for elements that are not plain data.
inline constexpr std::size_t k_merge_grain_of_objects = 1'024;

/// Two sorted ranges; where elements are equal, those of `a` come first.
template <class A, class B>
struct sorted_pair {
    A a;
    A a_end;
    B b;
    B b_end;

    std::size_t a_size() const { return detail::length(a, a_end); }
    std::size_t b_size() const { return detail::length(b, b_end); }
    std::size_t size() const { return a_size() + b_size(); }

    /// The first k of the merged elements, of which i are of `a`.
    sorted_pair front(std::size_t k, std::size_t i) const {
        return {a, detail::at(a, i), b, detail::at(b, k - i)};
    }
    sorted_pair behind(std::size_t k, std::size_t i) const {
        return {detail::at(a, i), a_end, detail::at(b, k - i), b_end};
    }
    /// The least number of elements of `a` that k of the merged elements may contain.
    std::size_t least_of_a(std::size_t k) const { return k - std::min(k, b_size()); }
};

/// The number of elements of `a` among the first k merged ones.
template <class A, class B, class Less>
std::size_t co_rank(const sorted_pair<A, B>& in, std::size_t k, Less& less) {
    std::size_t least = in.least_of_a(k);
    std::size_t most = std::min(k, in.a_size());
    while (least < most) {
        const std::size_t i = least + (most - least) / 2;
        if (less(*detail::at(in.b, k - i - 1), *detail::at(in.a, i))) {
            most = i;
        } else {
            least = i + 1;
        }
    }
    return least;
}

/// Whether the ranges can be merged without branches.
template <class A, class B, class Out>
inline constexpr bool k_merges_plain = false;
template <class A, class B, class Out>
    requires(std::is_pointer_v<A>&& std::is_pointer_v<B>&& std::is_pointer_v<Out>)
inline constexpr bool k_merges_plain<A, B, Out> =
    same_as_one_of<std::iter_value_t<A>, std::iter_value_t<Out>> &&
    same_as_one_of<std::iter_value_t<B>, std::iter_value_t<Out>> && k_is_plain<Out>;

/// `steps` elements from the front and as many from the back. Two chains of steps that do not
/// depend on each other. Requires: either range has 2 * steps elements at least.
template <class T, class Less>
void merge_from_both_ends(const T*& a, const T*& a_end, const T*& b, const T*& b_end, T*& out,
                          T*& out_end, std::size_t steps, Less& less) {
    auto comp = detail::for_chunk(less);
    for (; steps != 0; --steps) {
        const bool front_is_b = comp(*b, *a);
        const bool back_is_a = comp(b_end[-1], a_end[-1]);
        const T* const front = front_is_b ? b : a;
        const T* const back = back_is_a ? a_end : b_end;
        *out++ = *front;
        *--out_end = back[-1];
        b += front_is_b ? 1 : 0;
        a += front_is_b ? 0 : 1;
        a_end -= back_is_a ? 1 : 0;
        b_end -= back_is_a ? 0 : 1;
    }
}

/// Copies the merged elements of plain data. The result is of no use if `less` throws.
template <class T, class Less>
void merge_plain(const T* a, const T* a_end, const T* b, const T* b_end, T* out, Less& less) {
    T* out_end = out + (a_end - a) + (b_end - b);
    for (;;) {
        const auto steps = static_cast<std::size_t>(std::min(a_end - a, b_end - b)) / 2;
        if (steps == 0) {
            break;
        }
        detail::merge_from_both_ends(a, a_end, b, b_end, out, out_end, steps, less);
    }
    while (a != a_end && b != b_end) {
        const bool is_b = less(*b, *a);
        *out++ = is_b ? *b : *a;
        b += is_b ? 1 : 0;
        a += is_b ? 0 : 1;
    }
    std::copy(b, b_end, std::copy(a, a_end, out));
}

template <class A, class B, class Out, class Less>
void merge_copies_here(const sorted_pair<A, B>& in, Out out, Less& less) {
    if constexpr (k_merges_plain<A, B, Out>) {
        using element = std::iter_value_t<Out>;
        detail::merge_plain<element>(in.a, in.a_end, in.b, in.b_end, out, less);
    } else {
        std::merge(detail::as_standard(in.a), detail::as_standard(in.a_end),
                   detail::as_standard(in.b), detail::as_standard(in.b_end),
                   detail::as_standard(out), detail::for_chunk(less));
    }
}

/// Copies the merged elements.
template <class A, class B, class Out, class Less>
void merge_copies(const forks& where, const sorted_pair<A, B>& in, Out out, Less& less) {
    if (where.stopped()) {
        return;
    }
    const std::size_t n = in.size();
    if (!where.allowed_for(n)) {
        if (where.stop == nullptr) {
            detail::merge_copies_here(in, out, less);
        } else {
            detail::run_part(*where.stop, [&] { detail::merge_copies_here(in, out, less); });
        }
        return;
    }
    const std::size_t i =
        detail::run_part(*where.stop, [&] { return detail::co_rank(in, n / 2, less); });
    detail::fork_both(
        where,
        [&](const forks& here) { detail::merge_copies(here, in.front(n / 2, i), out, less); },
        [&](const forks& here) {
            detail::merge_copies(here, in.behind(n / 2, i), detail::at(out, n / 2), less);
        });
}

}  // namespace quern::detail
