// SPDX-License-Identifier: BSL-1.0
// The words that calls of MPI add to.
#include "notes/call_counts.hpp"

#include <algorithm>

namespace quern::mpi::detail {

traffic_counts g_traffic;

void count_wait(quern::detail::tick_count waited, quern::detail::tick_count idle) noexcept {
    g_traffic.suspended.fetch_add(1, std::memory_order_relaxed);
    g_traffic.waiting_ticks.fetch_add(waited, std::memory_order_relaxed);
    g_traffic.hidden_ticks.fetch_add(waited - std::min(idle, waited), std::memory_order_relaxed);
}

}  // namespace quern::mpi::detail
