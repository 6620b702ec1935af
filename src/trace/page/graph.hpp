// SPDX-License-Identifier: BSL-1.0
// The graph of dependent tasks in the page's data. Private to the layer.
#pragma once

#include "analyse/sites.hpp"
#include "analyse/words.hpp"

#include <quern/trace/recording.hpp>

namespace quern::trace::detail {

/// Adds the field "graph": kinds, the longest chain, and, up to 400 tasks, nodes and edges. Null
/// without dependent tasks.
void write_graph_data(json& out, const recording& run, const page_sites& sites);

}  // namespace quern::trace::detail
