// SPDX-License-Identifier: BSL-1.0
// What has been counted of nodes, as people want to know it.
#pragma once

#include "tree/nodes.hpp"

namespace quern::arrays::detail {

/// Of a node of a finished tree. Totals are means of the timed evaluations times the number of
/// evaluations.
node_statistics statistics_of(const tree_parts& all, node_number n) noexcept;

/// From now on the counters /primitives/… contain what the finished tree counts, also after its
/// end.
void add_to_counters(const tree_parts& one);
/// Its counts are about to be reset, and stay in the counters.
void keep_in_counters(const tree_parts& one) noexcept;

/// The nodes from the root on, each before its operands, with their depth. Without recursion: trees
/// may be deep.
struct placed_node {
    node_number number;
    std::uint32_t depth;
};
std::vector<placed_node> in_order(const tree_parts& all);

}  // namespace quern::arrays::detail
