// SPDX-License-Identifier: BSL-1.0
// What the readers of the machine (hwloc, /sys) hand over, and the one place that makes a
// consistent machine of it. Private to the layer. A reader must only say which units share what, by
// keys of its own; ids, ranks and order are made here.
#pragma once

#include <quern/topology/machine.hpp>

#include <optional>

namespace quern::topology::detail {

/// A processing unit with the keys of the parts that it belongs to; equal keys mean the same part.
/// Keys need not be dense.
struct raw_unit {
    unsigned os_index = 0;
    std::uint64_t package = 0;
    std::uint64_t core = 0;
    unsigned numa_node = 0;  ///< os index of the node
};

/// A machine in the making. The order of units is the machine's order.
struct raw_machine {
    std::vector<raw_unit> units;
    std::vector<numa_node> nodes;  ///< in order; pus filled in
    std::vector<cache> caches;     ///< in order within a level; ids are given by assemble
    std::vector<std::vector<std::uint64_t>> numa_distances;
};

/// Gives dense ids, SMT ranks and back references. What is missing becomes the simplest thing: no
/// units, one unit; no node, one node for all; a unit of an unknown node belongs to node 0.
/// Distances of the wrong shape are dropped and noted.
machine assemble(raw_machine raw, machine_source source, std::string description);

/// The machine through hwloc: of this computer without a description, otherwise the synthetic one.
/// In a build without hwloc always unavailable.
outcome<machine> read_with_hwloc(std::optional<std::string> synthetic);

}  // namespace quern::topology::detail
