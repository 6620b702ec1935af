// SPDX-License-Identifier: BSL-1.0
// The rows "leaf" and "phase": how long workers have nothing to do while there is work. As the
// problems long_leaf and phase_change of the benchmarks.
#pragma once

#include "row.hpp"

#include <cstddef>
#include <vector>

namespace virtual_time {

/// One task: which worker ran it, and when.
struct record {
    picoseconds start = 0;
    picoseconds end = 0;
    std::size_t worker = 0;
};

/// As idle_gaps in bench/harness/records.hpp. Requires: at least one task.
std::vector<picoseconds> idle_gaps(std::vector<record> tasks, picoseconds begin,
                                   std::size_t workers);

/// A parent spawns size siblings of 20 us by scope, fork_join or group, computes for 50 ms without
/// calling the runtime, then waits. The value is the longest idle gap in us.
row_result simulate_leaf(const setup& s);
/// Size tiny tasks by scope or group, then 20 of 5 ms (100 of 10 ms from a million tiny ones on),
/// then tiny ones again. The value is the longest idle gap of the large ones in us.
row_result simulate_phase(const setup& s);

}  // namespace virtual_time
