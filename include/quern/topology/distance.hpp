// SPDX-License-Identifier: BSL-1.0
// Distances between processing units, and from them each worker's victim order for stealing. Called
// once when a pool is built; the scheduler keeps the result for its hot paths.
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
inline constexpr unsigned k_remote = 5;     ///< and up, by increasing NUMA distance

/// Distances on one machine. Smaller is nearer; the numbers are ordinal and have no unit.
///
/// From k_remote on, the pairs of (NUMA node, package) are ranked by the firmware's NUMA distance,
/// then by whether they share a package. Equal pairs get equal numbers, and the numbers are dense.
/// Without firmware data, another node in the same package is nearer than one elsewhere. The
/// ranking is global: the same number means the same distance for all units.
class distance_map {
public:
    explicit distance_map(const machine& on);

    /// Requires: both belong to the machine that the map was made from.
    unsigned operator()(const processing_unit& a, const processing_unit& b) const;

private:
    using key = std::pair<std::uint64_t, unsigned>;  // NUMA distance, 0 same package / 1 other
    key key_of(unsigned node_a, unsigned package_a, unsigned node_b, unsigned package_b) const;

    std::vector<std::vector<std::uint64_t>> m_numa_distances;
    std::vector<key> m_remote;  // Invariant: ascending, unique; distance = index + k_remote
};

/// Workers at one distance from a given worker.
struct ring {
    unsigned distance = 0;
    std::vector<unsigned> workers;  ///< positions in the list given to nearest_first

    friend bool operator==(const ring&, const ring&) = default;
};

/// For each worker, the other workers in rings of equal distance, nearest ring first.
/// `pu_of_worker` holds os indices. Workers whose index the machine does not have, such as k_none
/// for unbound, come last, in a ring at distance k_none, and so do all others for them. Within a
/// ring the order starts after the worker itself and wraps around, so that workers of one ring do
/// not all start with the same victim. Cost: quadratic in the number of workers.
std::vector<std::vector<ring>> nearest_first(const machine& on,
                                             std::span<const unsigned> pu_of_worker);

}  // namespace quern::topology
