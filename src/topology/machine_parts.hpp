// SPDX-License-Identifier: BSL-1.0
// The interface between the readers of the machine (hwloc, /sys) and the code that assembles a
// consistent machine. Private to the layer. A reader only says which units share what, by keys of
// its own; ids, ranks and order are assigned here.
#pragma once

#include <quern/topology/machine.hpp>

#include <optional>

namespace quern::topology::detail {

/// A processing unit with keys of the parts that contain it; equal keys mean the same part. Keys
/// need not be dense.
struct raw_unit {
    unsigned os_index = 0;
    std::uint64_t package = 0;
    std::uint64_t core = 0;
    unsigned numa_node = 0;  ///< os index of the node
};

/// An unassembled machine. The order of units is the machine's order.
struct raw_machine {
    std::vector<raw_unit> units;
    std::vector<numa_node> nodes;  ///< in order; with pus
    std::vector<cache> caches;     ///< in order within a level; assemble sets the ids
    std::vector<std::vector<std::uint64_t>> numa_distances;
};

/// Assigns dense ids, SMT ranks and back references. Defaults for missing data: no units, one unit;
/// no node, one node for all; a unit of an unknown node belongs to node 0. Distances of the wrong
/// shape are dropped and noted.
machine assemble(raw_machine raw, machine_source source, std::string description);

/// Reads the machine with hwloc: this computer, or the synthetic one described. Always unavailable
/// in a build without hwloc.
outcome<machine> read_with_hwloc(std::optional<std::string> synthetic);

}  // namespace quern::topology::detail
