// SPDX-License-Identifier: BSL-1.0
// Which objects move so that localities have equal loads. No I/O: loads in, moves out.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern::localities {

/// Who moves.
enum class balance_rule : std::uint8_t {
    none,    ///< no object; what others would gain is told
    greedy,  ///< all are dealt out anew, the largest first (Graham 1969): most move
    refine   ///< those that make the largest load smaller, one after the other: few move
};

namespace detail {

struct placed_object {
    double load = 0;
    int place = 0;
};

struct planned_move {
    std::size_t object = 0;
    int to = 0;
    friend bool operator==(const planned_move&, const planned_move&) = default;
};

/// Loads by locality.
std::vector<double> loads_of(const std::vector<placed_object>& objects, int localities);

/// The moves, each of another object. A time about n log n for n objects; of refine, the number of
/// moves times n.
std::vector<planned_move> plan_moves(const std::vector<placed_object>& objects, int localities,
                                     balance_rule rule);

/// The objects after the moves.
std::vector<placed_object> after(std::vector<placed_object> objects,
                                 const std::vector<planned_move>& moves);

/// The largest load divided by the mean; 1 if all are 0.
double imbalance_of(const std::vector<double>& loads);

}  // namespace detail
}  // namespace quern::localities
