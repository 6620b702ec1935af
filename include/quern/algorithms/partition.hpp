// SPDX-License-Identifier: BSL-1.0
// partition, stable_partition and partition_copy; is_partitioned is in is_sorted.hpp, and comes
// with this header.
#pragma once

#include <quern/algorithms/detail/stable_partition.hpp>
#include <quern/algorithms/is_sorted.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace quern {

/// Moves the elements for which pred(element) is true to the front; the order within both kinds is
/// not kept. Returns the end of the first kind. Policies, errors, thread safety: as for_each; if
/// the predicate throws, no element is lost. A chunker has no effect.
/// Cost: one pass, and swaps of up to an eighth of the elements, if their order is random; the
/// predicate may be called more than once for some. Source: detail/partition_blocks.hpp.
///
///     auto others = quern::partition(quern::par, x.begin(), x.end(),
///                                    [](double e) { return e < 0; });
template <execution_policy Policy, std::forward_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto partition(Policy&& policy, It first, It last, Pred pred) {
    return detail::run_over<It>(
        policy, [first, last, pred = std::move(pred)](auto how) mutable -> It {
            if constexpr (how.k_is_parallel) {
                return detail::partition_in_blocks(how, first, detail::length(first, last), pred);
            } else {
                return detail::partition_here(first, last, detail::for_chunk(pred));
            }
        });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto partition(Policy&& policy, Range&& range, Pred pred) {
    return quern::partition(policy, detail::begin_of<Policy, Range>(range), std::ranges::end(range),
                            std::move(pred));
}

/// The same, and both kinds keep their order. Elements need a move constructor and an assignment.
/// Errors: as for_each; if the predicate throws, no element is lost where workers share the call,
/// and on one worker it is as std::stable_partition. When a stop is requested, elements may be left
/// in the moved-from state. Cost: one pass, and up to two further moves of each element; a buffer
/// as long as the range, of which as much is used as there are elements of the second kind. The
/// predicate is called once per element. Without memory for the buffer as std::stable_partition; on
/// one worker O(n log n) swaps if * gives no references or the elements' alignment is above 16.
///
///     auto others = quern::stable_partition(quern::par, x, [](double e) { return e < 0; });
template <execution_policy Policy, std::bidirectional_iterator It, class Pred>
QUERN_ALWAYS_INLINE auto stable_partition(Policy&& policy, It first, It last, Pred pred) {
    return detail::run_over<It>(policy,
                                [first, last, pred = std::move(pred)](auto how) mutable -> It {
                                    if constexpr (how.k_is_parallel) {
                                        return detail::stable_partition_in_groups(
                                            how, first, detail::length(first, last), pred);
                                    } else {
                                        return detail::stable_partition_here(first, last, pred);
                                    }
                                });
}
template <execution_policy Policy, detail::iterable Range, class Pred>
QUERN_ALWAYS_INLINE auto stable_partition(Policy&& policy, Range&& range, Pred pred) {
    return quern::stable_partition(policy, detail::begin_of<Policy, Range>(range),
                                   std::ranges::end(range), std::move(pred));
}

/// Copies the elements for which pred(element) is true to `out_true`, the others to `out_false`, in
/// their order. Returns the ends of both copies. Policies, errors, thread safety, cost: as copy_if.
///
///     auto [low, high] = quern::partition_copy(quern::par, x.begin(), x.end(), y.begin(),
///                                              new_grid.begin(), [](double e) { return e < 0; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator OutTrue,
          std::input_or_output_iterator OutFalse, class Pred>
QUERN_ALWAYS_INLINE auto partition_copy(Policy&& policy, It first, It last, OutTrue out_true,
                                        OutFalse out_false, Pred pred) {
    return detail::run_over<It, OutTrue, OutFalse>(
        policy,
        [first, last, out_true, out_false,
         pred = std::move(pred)](auto how) mutable -> std::pair<OutTrue, OutFalse> {
            if constexpr (how.k_is_parallel) {
                return detail::partition_copy_in_blocks(how, first, detail::length(first, last),
                                                        out_true, out_false, pred);
            } else {
                return detail::partition_copy_here(first, last, out_true, out_false, pred);
            }
        });
}
template <execution_policy Policy, detail::iterable Range, std::input_or_output_iterator OutTrue,
          std::input_or_output_iterator OutFalse, class Pred>
QUERN_ALWAYS_INLINE auto partition_copy(Policy&& policy, Range&& range, OutTrue out_true,
                                        OutFalse out_false, Pred pred) {
    return quern::partition_copy(policy, detail::begin_of<Policy, Range>(range),
                                 std::ranges::end(range), out_true, out_false, std::move(pred));
}

}  // namespace quern
