// SPDX-License-Identifier: BSL-1.0
// Reads the machine with hwloc. The only file that includes it; nothing of hwloc may leave this
// file. Called by machine.cpp. The whole computer is read, including parts that this process may
// not use, which limits.cpp determines.
#include "machine_parts.hpp"

#include <quern/topology/detail/text.hpp>

#include <hwloc.h>
#include <hwloc/distances.h>
#include <array>
#include <cerrno>
#include <memory>

namespace quern::topology {

namespace {

struct destroy_topology {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using topology_ptr = std::unique_ptr<hwloc_topology, destroy_topology>;

std::vector<unsigned> indices_in(hwloc_const_bitmap_t set) {
    std::vector<unsigned> indices;
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) {
        indices.push_back(static_cast<unsigned>(i));
    }
    return indices;
}

/// The index of the enclosing object of a type, or `otherwise` if there is none.
std::uint64_t ancestor(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu,
                       std::uint64_t otherwise) {
    const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return found ? found->logical_index : otherwise;
}

/// A memory-only node, or a second memory of the same cores (stacked memory), has units that an
/// earlier node already holds. The first node in hwloc's order counts as local.
unsigned local_node(const std::vector<numa_node>& nodes, unsigned os_index) {
    for (const numa_node& node : nodes) {
        for (const unsigned pu : node.pus) {
            if (pu == os_index) {
                return node.os_index;
            }
        }
    }
    return nodes.empty() ? 0 : nodes.front().os_index;
}

void read_nodes(hwloc_topology_t topology, detail::raw_machine& raw) {
    hwloc_obj_t node = nullptr;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
        raw.nodes.push_back(
            {node->os_index, node->attr->numanode.local_memory, indices_in(node->cpuset)});
    }
}

void read_units(hwloc_topology_t topology, detail::raw_machine& raw) {
    constexpr std::uint64_t k_no_core = std::uint64_t{1}
                                        << 32;  // above every logical index: a core of its own
    hwloc_obj_t pu = nullptr;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
        detail::raw_unit unit;
        unit.os_index = pu->os_index;
        unit.package = ancestor(topology, HWLOC_OBJ_PACKAGE, pu, 0);
        unit.core = ancestor(topology, HWLOC_OBJ_CORE, pu, k_no_core + pu->logical_index);
        unit.numa_node = local_node(raw.nodes, pu->os_index);
        raw.units.push_back(unit);
    }
}

void read_caches(hwloc_topology_t topology, detail::raw_machine& raw) {
    constexpr std::array k_levels{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                  HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    for (const hwloc_obj_type_t level : k_levels) {
        hwloc_obj_t found = nullptr;
        while ((found = hwloc_get_next_obj_by_type(topology, level, found)) != nullptr) {
            const auto& about = found->attr->cache;
            raw.caches.push_back({about.depth, 0, about.size, indices_in(found->cpuset)});
        }
    }
}

void read_distances(hwloc_topology_t topology, detail::raw_machine& raw) {
    unsigned count = 1;
    hwloc_distances_s* found = nullptr;
    const int error = hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &found,
                                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    if (error != 0 || count == 0 || !found) {
        return;
    }
    const std::size_t n = found->nbobjs;
    if (n == raw.nodes.size()) {
        // hwloc's order of objects here may differ from the order of the nodes.
        raw.numa_distances.assign(n, std::vector<std::uint64_t>(n));
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) {
                raw.numa_distances[found->objs[a]->logical_index][found->objs[b]->logical_index] =
                    found->values[a * n + b];
            }
        }
    }
    hwloc_distances_release(topology, found);
}

outcome<topology_ptr> load(const std::optional<std::string>& synthetic) {
    hwloc_topology_t created = nullptr;
    if (hwloc_topology_init(&created) != 0) {
        return unavailable{"hwloc_topology_init: " + errno_text(errno)};
    }
    topology_ptr topology(created);
    if (synthetic && hwloc_topology_set_synthetic(created, synthetic->c_str()) != 0) {
        return unavailable{
            "hwloc does not understand the synthetic machine " + detail::in_quotes(*synthetic) +
            "; expected levels from the outside in, such as \"pack:2 l3:2 core:4 pu:2\""};
    }
    if (!synthetic) {
        hwloc_topology_set_flags(created, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    }
    if (hwloc_topology_load(created) != 0) {
        return unavailable{"hwloc_topology_load: " + errno_text(errno)};
    }
    return topology;
}

}  // namespace

std::string_view hwloc_version() noexcept { return HWLOC_VERSION; }

namespace detail {

outcome<machine> read_with_hwloc(std::optional<std::string> synthetic) {
    const outcome<topology_ptr> topology = load(synthetic);
    if (!topology) {
        return unavailable{topology.reason()};
    }
    raw_machine raw;
    read_nodes(topology->get(), raw);
    read_units(topology->get(), raw);
    read_caches(topology->get(), raw);
    read_distances(topology->get(), raw);
    const std::string reader = "hwloc " + std::string(hwloc_version());
    if (synthetic) {
        return assemble(std::move(raw), machine_source::synthetic,
                        reader + ", synthetic: " + *synthetic);
    }
    // hwloc's environment variables (HWLOC_XMLFILE, HWLOC_FSROOT) can substitute another computer.
    if (!hwloc_topology_is_thissystem(topology->get())) {
        return assemble(std::move(raw), machine_source::synthetic,
                        reader + ", another machine by its environment");
    }
    return assemble(std::move(raw), machine_source::hwloc, reader);
}

}  // namespace detail

}  // namespace quern::topology
