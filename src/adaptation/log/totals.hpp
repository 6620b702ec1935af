// SPDX-License-Identifier: BSL-1.0
// What the parts of this layer count; read by all_totals() and the counters.
#pragma once

#include <atomic>
#include <cstdint>

namespace quern::adaptation::detail {

struct counts {
    std::atomic<std::uint64_t> decisions{0};
    std::atomic<std::uint64_t> trials{0};
    std::atomic<std::uint64_t> policy_ns{0};
    std::atomic<std::uint64_t> dropped{0};
};

/// Of the process.
extern counts g_counts;

}  // namespace quern::adaptation::detail
