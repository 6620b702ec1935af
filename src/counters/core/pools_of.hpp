// SPDX-License-Identifier: BSL-1.0
// The workers of a place, for sources that read workers.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <vector>

namespace quern::counters::detail {

/// Reason for missing numbers in a build without counters.
inline constexpr const char* k_left_out = "Quern was built with QUERN_WITH_COUNTERS=OFF";

/// The pools of a place; none if it has no living pool or runtime.
inline std::vector<pool_ref> pools_of(const place& where) {
    if (where.pool) {
        return {*where.pool};
    }
    return where.whole != nullptr ? where.whole->pools() : std::vector<pool_ref>{};
}

/// Calls f(pool, rank) for each of the place's workers.
template <class F>
void for_each_worker(const place& where, F&& f) {
    for (const pool_ref& each : pools_of(where)) {
        quern::detail::pool& home = each.get();
        if (where.worker) {
            f(home, static_cast<std::uint32_t>(*where.worker));
            continue;
        }
        for (std::uint32_t rank = 0; rank < home.size(); ++rank) {
            f(home, rank);
        }
    }
}

}  // namespace quern::counters::detail
