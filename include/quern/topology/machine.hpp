// SPDX-License-Identifier: BSL-1.0
// The machine as a plain value: processing units, cores, caches, NUMA nodes. The scheduler uses it
// to place workers and to order victims; tests use synthetic machines. It describes hardware, not
// what this process may use (limits.hpp). No type of the library that read it appears here.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

/// No such cache, node or worker.
inline constexpr unsigned k_none = ~0u;

/// One hardware thread. All ids except os_index are positions in the machine's vectors, dense from
/// 0.
struct processing_unit {
    unsigned os_index = 0;   ///< the number in affinity masks
    unsigned core = 0;       ///< position in machine::cores
    unsigned package = 0;    ///< 0 … package_count()-1
    unsigned numa_node = 0;  ///< position in machine::numa_nodes
    unsigned l2 = k_none;    ///< id of the level-2 cache, or k_none
    unsigned l3 = k_none;    ///< id of the level-3 cache, or k_none
    unsigned smt_rank = 0;   ///< 0 for the first hardware thread of its core, then 1, 2 …

    friend bool operator==(const processing_unit&, const processing_unit&) = default;
};

struct core {
    std::vector<unsigned> pus;  ///< os indices, in order of SMT rank
    unsigned package = 0;
    unsigned numa_node = 0;

    friend bool operator==(const core&, const core&) = default;
};

struct numa_node {
    unsigned os_index = 0;
    std::uint64_t memory_bytes = 0;  ///< 0: unknown
    std::vector<unsigned> pus;       ///< os indices; empty for a memory-only node

    friend bool operator==(const numa_node&, const numa_node&) = default;
};

/// A data or unified cache.
struct cache {
    unsigned level = 1;
    unsigned id = 0;               ///< dense from 0 within its level
    std::uint64_t size_bytes = 0;  ///< 0: unknown
    std::vector<unsigned> pus;     ///< os indices of the sharing PUs

    friend bool operator==(const cache&, const cache&) = default;
};

enum class machine_source { hwloc, sysfs, synthetic };

/// Invariant: at least one processing unit. PUs, cores and nodes that are close in the hardware are
/// close in the vectors (the hierarchy read from left to right).
struct machine {
    machine_source source = machine_source::sysfs;
    std::string description;  ///< reader and source; one line
    std::vector<processing_unit> pus;
    std::vector<core> cores;
    std::vector<numa_node> numa_nodes;  ///< at least one
    std::vector<cache> caches;          ///< by level, then id
    /// numa_distances[a][b] between positions in numa_nodes, as the firmware reports it (10 =
    /// local); empty if unknown or if there is only one node.
    std::vector<std::vector<std::uint64_t>> numa_distances;
    std::vector<std::string> notes;  ///< unreadable parts, with the reason

    /// The machine of this process, or the one described by the environment variable
    /// HWLOC_SYNTHETIC. Uses hwloc; /sys if hwloc was left out of the build or fails. Takes
    /// milliseconds: keep the result. Throws std::invalid_argument if HWLOC_SYNTHETIC is set and
    /// cannot be used.
    static machine detect();

    /// Reads only /sys below the root. Never fails: missing parts are noted and replaced by the
    /// simplest consistent machine. With a root other than "/", use the limits read below the same
    /// root.
    static machine from_sysfs(const system_root& root);

    /// A synthetic machine, in hwloc's notation: "pack:2 [numa] l3:2 core:4 pu:2"
    /// (https://www.open-mpi.org/projects/hwloc, "Synthetic topologies"). Unavailable if the
    /// description is malformed or hwloc was left out of the build.
    static outcome<machine> synthetic(std::string_view description);

    /// Whether the os indices are those of this computer, so that threads can be bound to them.
    bool is_this_computer() const noexcept { return source != machine_source::synthetic; }

    /// The processing unit with this os index, or null. Linear search.
    const processing_unit* find(unsigned os_index) const noexcept;

    unsigned package_count() const noexcept;
    unsigned pu_count() const noexcept { return static_cast<unsigned>(pus.size()); }
    /// All os indices, ascending.
    std::vector<unsigned> all_pus() const;

    friend bool operator==(const machine&, const machine&) = default;
};

/// The version of the hwloc that this library was built with, "2.9.0"; empty if it was left out.
std::string_view hwloc_version() noexcept;

}  // namespace quern::topology
