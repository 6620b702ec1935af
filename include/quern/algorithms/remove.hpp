// SPDX-License-Identifier: BSL-1.0
// remove, unique and their forms that write a copy.
#pragma once

#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/detail/compaction.hpp>
#include <quern/algorithms/detail/in_place.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// The most elements of a block of a removal: a block is done by one worker.
inline constexpr std::size_t k_removal_block = 8'192;
/// Blocks per worker where there are fewer elements.
inline constexpr std::size_t k_removal_blocks_per_worker = 32;

/// Removes elements that are not plain data in place: remove(first, last) in every block, then what
/// each block kept is moved behind that of the blocks before it, in order. is_dropped(end of the
/// kept ones, first of a block) says whether the first element of a block goes because of those
/// before it. Returns the new end.
template <class How, class It, class Remove, class IsDropped>
It remove_in_blocks(const How& how, It first, std::size_t n, Remove remove, IsDropped is_dropped) {
    if (!detail::is_shared(how)) {
        return remove(first, detail::at(first, n));
    }
    const std::size_t wanted = n / (k_removal_blocks_per_worker * detail::sharers(how));
    const std::size_t most = std::clamp<std::size_t>(wanted, 1, k_removal_block);
    const std::size_t blocks = detail::divide_up(n, most);
    std::vector<It> ends(blocks, first);
    const auto first_of = [&](std::size_t b) { return detail::at(first, b * most); };
    detail::for_chunks(how, blocks, [&](std::size_t b, std::size_t last) {
        for (; b < last; ++b) {
            const std::size_t size = std::min(n - b * most, most);
            ends[b] = remove(first_of(b), detail::at(first_of(b), size));
        }
    });
    It end = ends.empty() ? first : ends.front();
    for (std::size_t b = 1; b < blocks; ++b) {
        It from = first_of(b);
        if (from != ends[b] && is_dropped(end, from)) {
            ++from;
        }
        end = from == end ? ends[b] : detail::move_range(from, ends[b], end);
    }
    return end;
}

}  // namespace detail

/// Removes the elements for which pred(element) is true: the others move to the front, in their
/// order. Returns their end. Policies, errors, thread safety: as for_each.
/// Cost: pred is called once per element, in parallel. Plain data: one move of each kept element
/// that does not stay, by several workers as soon as enough elements before it are gone. Others:
/// a move within blocks, in parallel, and one of every kept element on one thread.
///
///     x.erase(quern::remove_if(quern::par, x.begin(), x.end(), [](double e) { return e < 0; }),
///             x.end());
template <execution_policy Policy, std::forward_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto remove_if(Policy&& policy, It first, It last, Pred pred) {
    return detail::run_over<It>(
        policy, [first, last, pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel && detail::k_is_plain_data<std::iter_value_t<It>>) {
                const auto is_kept = [&](const It& i) -> bool { return !pred(*i); };
                return detail::compact_in_place(how, first, detail::length(first, last), is_kept);
            } else if constexpr (how.k_is_parallel) {
                return detail::remove_in_blocks(
                    how, first, detail::length(first, last),
                    [&pred](It i, It end) {
                        return detail::remove_here(i, end, detail::for_chunk(pred));
                    },
                    [](It, It) { return false; });
            } else {
                return detail::remove_here(first, last, detail::for_chunk(pred));
            }
        });
}

/// Removes the elements equal to `value`. As remove_if.
///
///     x.erase(quern::remove(quern::par, x.begin(), x.end(), 0.0), x.end());
template <execution_policy Policy, std::forward_iterator It, class T>
QUERN_ALWAYS_INLINE auto remove(Policy&& policy, It first, It last, const T& value) {
    return quern::remove_if(policy, first, last,
                            [value = detail::keep_value(policy, value)](const auto& each) -> bool {
                                return each == value();
                            });
}

/// Copies the elements for which pred(element) is false; otherwise as copy_if.
///
///     auto end = quern::remove_copy_if(quern::par, x.begin(), x.end(), y.begin(),
///                                      [](double e) { return e < 0; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Pred>
QUERN_ALWAYS_INLINE auto remove_copy_if(Policy&& policy, It first, It last, Out out, Pred pred) {
    return quern::copy_if(policy, first, last, out,
                          [pred = std::move(pred)](const auto& each) mutable -> bool {
                              return !std::invoke(pred, each);
                          });
}

/// Copies the elements that are not equal to `value`; otherwise as copy_if.
///
///     auto end = quern::remove_copy(quern::par, x.begin(), x.end(), y.begin(), 0.0);
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class T>
QUERN_ALWAYS_INLINE auto remove_copy(Policy&& policy, It first, It last, Out out, const T& value) {
    return quern::copy_if(policy, first, last, out,
                          [value = detail::keep_value(policy, value)](const auto& each) -> bool {
                              return !(each == value());
                          });
}

/// Of successive elements that are equal, by same(a, b), keeps the first one. `same` must be an
/// equivalence. Otherwise as remove_if.
///
///     x.erase(quern::unique(quern::par, x.begin(), x.end()), x.end());
template <execution_policy Policy, std::forward_iterator It, class Same = std::equal_to<>>
QUERN_ALWAYS_INLINE auto unique(Policy&& policy, It first, It last, Same same = {}) {
    return detail::run_over<It>(
        policy, [first, last, same = std::move(same)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel && detail::k_is_plain_data<std::iter_value_t<It>>) {
                const auto is_kept = [&](const It& i) -> bool {
                    return i == first || !same(*(i - 1), *i);
                };
                return detail::compact_in_place(how, first, detail::length(first, last), is_kept);
            } else if constexpr (how.k_is_parallel) {
                return detail::remove_in_blocks(
                    how, first, detail::length(first, last),
                    [&same](It i, It end) {
                        return detail::unique_here(i, end, detail::for_chunk(same));
                    },
                    [&same](It end, It next) -> bool { return same(*--end, *next); });
            } else {
                return detail::unique_here(first, last, detail::for_chunk(same));
            }
        });
}

/// Copies the elements that differ from the one before them, by same(a, b). Otherwise as copy_if.
///
///     auto end = quern::unique_copy(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Same = std::equal_to<>>
QUERN_ALWAYS_INLINE auto unique_copy(Policy&& policy, It first, It last, Out out, Same same = {}) {
    return detail::run_over<It, Out>(
        policy, [first, last, out, same = std::move(same)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel && !detail::k_moves<It>) {  // elements are read twice
                const auto is_kept = [&](const auto& i) -> bool {
                    return i == first || !same(*(i - 1), *i);
                };
                return detail::compact_into(how, first, detail::length(first, last), out, is_kept);
            } else {
                return detail::as_given(
                    std::unique_copy(detail::as_standard(first), detail::as_standard(last),
                                     detail::as_standard(out), detail::for_chunk(same)));
            }
        });
}

}  // namespace quern
