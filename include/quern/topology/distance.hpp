// SPDX-License-Identifier: BSL-1.0
// How far apart two processing units are, and from that, whom each worker should try to steal from
// first. Called once when a pool is built; the scheduler keeps the result and never asks again on a
// hot path.
#pragma once

#include <quern/topology/machine.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quern::topology {

inline constexpr unsigned k_same_pu = 0;
inline constexpr unsigned k_same_core = 1;  ///< SMT siblings
inline constexpr unsigned k_same_l2 = 2;
inline constexpr unsigned k_same_l3 = 3;
inline constexpr unsigned k_same_node = 4;  ///< same NUMA node and same package
inline constexpr unsigned k_remote = 5;     ///< and up, by rising NUMA distance

/// Distances on one machine. A small number is near; the numbers have an order and no unit.
///
/// From k_remote on, the pairs of (NUMA node, package) are ranked by the NUMA distance that the
/// firmware reports and then by whether they share a package; equal pairs get equal numbers, and
/// the numbers are dense. Where the firmware says nothing, another node in the same package is
/// nearer than one elsewhere. The order is the machine's, not the asking unit's: the same number
/// means the same distance everywhere.
class distance_map {
public:
    explicit distance_map(const machine& on);

    /// Requires: both belong to the machine that the map was made from.
    unsigned operator()(const processing_unit& a, const processing_unit& b) const;

private:
    using key = std::pair<std::uint64_t, unsigned>;  // NUMA distance, 0 same package / 1 other
    key key_of(unsigned node_a, unsigned package_a, unsigned node_b, unsigned package_b) const;

    std::vector<std::vector<std::uint64_t>> m_numa_distances;
    std::vector<key>
        m_remote;  // Invariant: ascending, no duplicates; the position + k_remote is the distance
};

/// Workers at one distance from some worker.
struct ring {
    unsigned distance = 0;
    std::vector<unsigned> workers;  ///< positions in the list given to nearest_first

    friend bool operator==(const ring&, const ring&) = default;
};

/// For each worker, the other workers in rings of equal distance, nearest ring first.
/// `pu_of_worker` holds os indices; workers with an index that the machine does not have, such as
/// k_none for unbound, come last, in a ring at distance k_none, and see the others so too. Within a
/// ring the order starts after the worker itself and wraps round, so that workers of one ring do
/// not all visit the same victim first. Cost: quadratic in the number of workers.
std::vector<std::vector<ring>> nearest_first(const machine& on,
                                             std::span<const unsigned> pu_of_worker);

}  // namespace quern::topology
