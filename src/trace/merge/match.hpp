// SPDX-License-Identifier: BSL-1.0
// Finds for each message that a rank has sent the receipt by another rank. Private to the layer.
#pragma once

#include "merge/rank_trace.hpp"

#include <quern/trace/merge.hpp>

#include <cstdint>
#include <vector>

namespace quern::trace::detail {

/// The end of an arrow in a trace.
struct arrow_end {
    std::uint64_t packet = 0;
    std::uint64_t arrow = 0;  ///< its number, the same at both ends
    bool is_sent = false;
    std::int64_t at_ns = 0;  ///< on the common clock
};

struct matched_messages {
    std::vector<std::vector<arrow_end>> ends{};  ///< of each trace, by packet
};

/// Takes the messages out of the traces, and fills in the numbers of the result.
matched_messages match_messages(std::vector<rank_trace>& traces, merged_traces& result);

}  // namespace quern::trace::detail
