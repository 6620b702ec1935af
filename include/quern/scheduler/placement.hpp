// SPDX-License-Identifier: BSL-1.0
// From the settings of a pool to its place on the machine: how many workers, where each runs, of
// which NUMA node it is and whom it robs first. Called when a runtime is made; a pure function of
// its arguments, so that tests can ask for machines that they invent.
#pragma once

#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/settings.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <string>
#include <vector>

namespace quern::detail {

/// Writes workers, processing_units, nodes and victims. Throws std::invalid_argument for a binding
/// that this machine or process cannot give.
void place_workers(pool_description& description, const topology::machine& on,
                   const topology::cpu_limits& limits, const settings& chosen);

/// The numbers of the NUMA nodes on which the process may run.
std::vector<unsigned> usable_nodes(const topology::machine& on, const topology::cpu_limits& limits);

}  // namespace quern::detail
