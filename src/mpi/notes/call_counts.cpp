// SPDX-License-Identifier: BSL-1.0
// The words that calls of MPI add to.
#include "notes/call_counts.hpp"

#include <algorithm>

namespace quern::mpi::detail {

traffic_counts g_traffic;

namespace {

constexpr auto k_relaxed = std::memory_order_relaxed;

}  // namespace

void count_wait(quern::detail::tick_count waited, quern::detail::tick_count idle) noexcept {
    g_traffic.suspended.fetch_add(1, k_relaxed);
    g_traffic.waiting_ticks.fetch_add(waited, k_relaxed);
    g_traffic.hidden_ticks.fetch_add(waited - std::min(idle, waited), k_relaxed);
}

}  // namespace quern::mpi::detail
