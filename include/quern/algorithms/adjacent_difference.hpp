// SPDX-License-Identifier: BSL-1.0
// adjacent_difference: every element minus the one before it.
#pragma once

#include <quern/algorithms/transform.hpp>

#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace quern {

/// *out = *first and *(out + i) = op(*(first + i), *(first + i - 1)). The ranges must not overlap.
/// Returns the end of the output. Policies, errors, thread safety, cost: as for_each.
///
///     quern::adjacent_difference(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Op = std::minus<>>
QUERN_ALWAYS_INLINE auto adjacent_difference(Policy&& policy, It first, It last, Out out,
                                             Op op = {}) {
    return detail::run_over<It, Out>(
        policy, [first, last, out, op = std::move(op)](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                if (n == 0) {
                    return out;
                }
                *out = *first;
                return quern::transform(how.policy, detail::at(first, 1), last, first,
                                        detail::at(out, 1), std::ref(op));
            } else {
                return detail::as_given(
                    std::adjacent_difference(detail::as_standard(first), detail::as_standard(last),
                                             detail::as_standard(out), detail::for_chunk(op)));
            }
        });
}

}  // namespace quern
