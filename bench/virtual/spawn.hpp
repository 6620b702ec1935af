// SPDX-License-Identifier: BSL-1.0
// The row "spawn": one worker spawns null tasks in a scope while all others steal, as the variant
// scope of bench/serial_spawn does.
#pragma once

#include "worker.hpp"

namespace virtual_time {

struct spawn_result {
    double ns_per_task = 0;
    double stolen = 0;   ///< parts of the tasks
    double answers = 0;  ///< requests that the spawner answered, per 1000 tasks
    std::uint64_t parks = 0;
    std::uint64_t suspensions = 0;
    machine::figures counted;
};

/// Requires: workers > 0, tasks > 0.
spawn_result simulate_spawn(const costs& c, const rules& r, unsigned workers, long tasks,
                            std::uint64_t seed);

}  // namespace virtual_time
