// SPDX-License-Identifier: BSL-1.0
// The command line of bench-virtual.
#pragma once

#include "row.hpp"

#include <optional>
#include <string>
#include <vector>

namespace virtual_time {

struct options {
    std::string row;
    std::string machine;
    std::vector<unsigned> workers{2, 4, 8, 16};
    rules how;
    std::optional<long> size;  ///< else that of the row
    std::optional<picoseconds> work;
    picoseconds before = 0;
    unsigned rounds = 1;
    std::string by = "scope";
    unsigned seeds = 5;
    std::string scale;
    bool is_verbose = false;
};

inline constexpr const char* k_usage =
    "Usage: bench-virtual ROW --machine FILE [option...]\n"
    "  ROW                 spawn, fork, loop, uts, leaf, phase: see bench/virtual/README.md\n"
    "  --machine FILE      costs: see bench/virtual/machines\n"
    "  --workers N,...     1 to 1024; default: 2,4,8,16\n"
    "  --tasks N           tasks, leaves, iterations, or children of the root; default: as in the\n"
    "                      benchmark\n"
    "  --work NS           of a leaf, an iteration, a node or a tiny task; default: by row\n"
    "  --before US         the pool has nothing to do for so long before each round; default: 0\n"
    "  --rounds N          the first one is not counted, if there are several; default: 1\n"
    "  --by CONSTRUCT      scope, group or fork; default: scope\n"
    "  --ask all|one       victims that a thief asks in a round; default: all\n"
    "  --ask-interval A-B  us between requests of a thief, least and most; default: 5-200\n"
    "  --ask-at-once       a thief has no least interval before its first theft\n"
    "  --coarse NS         pushes farther apart than this publish at once; default: 500\n"
    "  --time-every-push   also those that are slow because a thief has asked, from their start\n"
    "  --spin US           a search without result before a worker sleeps; default: 50\n"
    "  --crowd             searchers beyond half of the workers spin too\n"
    "  --wake relay|tree   who wakes sleepers: one by one, or as many as there is work for\n"
    "  --fanout N          the most that one worker wakes at once in a tree; default: 2\n"
    "  --seeds N           runs with different seeds; prints median, least and most; default: 5\n"
    "  --scale KEY=F       multiplies one cost, to see what depends on it\n"
    "  --verbose           counts of what happened\n";

/// Throws std::invalid_argument, which names the value.
options read_options(int argc, char** argv);

}  // namespace virtual_time
