// SPDX-License-Identifier: BSL-1.0
// What each row of bench-virtual gets and gives.
#pragma once

#include "simulation.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace virtual_time {

struct setup {
    costs cost;
    rules how;
    unsigned workers = 2;
    std::uint64_t seed = 1;
    long size = 0;
    picoseconds work = 0;    ///< of a leaf, an iteration or a node
    picoseconds before = 0;  ///< the pool has nothing to do for so long before each round
    unsigned rounds = 1;     ///< figures are means of all but the first, if there are several
    std::string by;          ///< the construct: scope, fork or group
};

struct row_result {
    double value = 0;
    std::map<std::string, double> more;
};

/// Throws std::logic_error, which names both numbers, if they differ.
void expect(const char* what, std::uint64_t right, std::uint64_t got);

/// Runs `body` as often as the setup says, each time after the pause, and expects it to return
/// `right`. The value is the mean time of a round in us.
row_result run_rounds(const setup& s, std::uint64_t right,
                      const std::function<std::uint64_t(fork_place)>& body);

/// fork_join by halves over size leaves: the value is us.
row_result simulate_fork(const setup& s);
/// parallel_for of size iterations with automatic chunks: us.
row_result simulate_loop(const setup& s);
/// Counts the nodes of a tree of the benchmark uts, whose root has size children, 500 or 2000, by
/// fork_join with the context passed down: ns a node.
row_result simulate_uts(const setup& s);

}  // namespace virtual_time
