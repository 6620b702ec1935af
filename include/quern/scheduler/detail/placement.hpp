// SPDX-License-Identifier: BSL-1.0
// Maps the settings of a pool to the machine: the number of workers, the processing unit, NUMA node
// and order of victims of each. Called when a runtime is made. A pure function of its arguments, so
// that tests can pass invented machines.
#pragma once

#include <quern/scheduler/detail/pool.hpp>
#include <quern/settings/settings.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <string>
#include <vector>

namespace quern::detail {

/// Writes workers, processing_units, nodes and victims. Throws std::invalid_argument for a binding
/// that this machine or process cannot give.
void place_workers(pool_description& description, const topology::machine& on,
                   const topology::cpu_limits& limits, const settings& chosen);

std::vector<unsigned> usable_nodes(const topology::machine& on, const topology::cpu_limits& limits);

}  // namespace quern::detail
