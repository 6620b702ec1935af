// SPDX-License-Identifier: BSL-1.0
// Distances between processing units, and from them each worker's victim order. Runs once per pool.
#include <quern/topology/distance.hpp>

#include <algorithm>

namespace quern::topology {

distance_map::distance_map(const machine& on) : m_numa_distances(on.numa_distances) {
    std::vector<std::pair<unsigned, unsigned>>
        places;  // (node, package) pairs with processing units
    for (const processing_unit& pu : on.pus) {
        places.emplace_back(pu.numa_node, pu.package);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const auto& [node_a, package_a] : places) {
        for (const auto& [node_b, package_b] : places) {
            if (node_a != node_b || package_a != package_b) {
                m_remote.push_back(key_of(node_a, package_a, node_b, package_b));
            }
        }
    }
    std::sort(m_remote.begin(), m_remote.end());
    m_remote.erase(std::unique(m_remote.begin(), m_remote.end()), m_remote.end());
}

distance_map::key distance_map::key_of(unsigned node_a, unsigned package_a, unsigned node_b,
                                       unsigned package_b) const {
    const unsigned other_package = package_a == package_b ? 0 : 1;
    if (m_numa_distances.empty()) {
        return {node_a == node_b ? 0 : 1, other_package};
    }
    return {m_numa_distances[node_a][node_b], other_package};
}

unsigned distance_map::operator()(const processing_unit& a, const processing_unit& b) const {
    if (a.os_index == b.os_index) {
        return k_same_pu;
    }
    if (a.core == b.core) {
        return k_same_core;
    }
    if (a.l2 == b.l2 && a.l2 != k_none) {
        return k_same_l2;
    }
    if (a.l3 == b.l3 && a.l3 != k_none) {
        return k_same_l3;
    }
    if (a.numa_node == b.numa_node && a.package == b.package) {
        return k_same_node;
    }
    const key wanted = key_of(a.numa_node, a.package, b.numa_node, b.package);
    const auto found = std::lower_bound(m_remote.begin(), m_remote.end(), wanted);
    return k_remote + static_cast<unsigned>(found - m_remote.begin());
}

namespace {

/// Linear search: with few distances it is faster than a map.
void add_to_ring(std::vector<ring>& rings, unsigned distance, unsigned worker) {
    auto found = rings.begin();
    while (found != rings.end() && found->distance != distance) {
        ++found;
    }
    if (found == rings.end()) {
        found = rings.insert(found, {distance, {}});
    }
    found->workers.push_back(worker);
}

}  // namespace

std::vector<std::vector<ring>> nearest_first(const machine& on,
                                             std::span<const unsigned> pu_of_worker) {
    const distance_map distance(on);
    std::vector<const processing_unit*> where;
    for (const unsigned os_index : pu_of_worker) {
        where.push_back(on.find(os_index));
    }
    std::vector<std::vector<ring>> rings(where.size());
    for (std::size_t self = 0; self < where.size(); ++self) {
        for (std::size_t step = 1; step < where.size(); ++step) {
            const std::size_t other = (self + step) % where.size();
            const bool known = where[self] && where[other];
            const unsigned apart = known ? distance(*where[self], *where[other]) : k_none;
            add_to_ring(rings[self], apart, static_cast<unsigned>(other));
        }
        std::sort(rings[self].begin(), rings[self].end(),
                  [](const ring& a, const ring& b) { return a.distance < b.distance; });
    }
    return rings;
}

}  // namespace quern::topology
