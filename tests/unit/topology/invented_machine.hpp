// SPDX-License-Identifier: BSL-1.0
// Regular machines of any shape, written as a /sys tree and read back, so that tests of distances
// and binding run in builds with and without hwloc. Units are numbered along the hierarchy, or as
// Linux does on PCs: all first hardware threads of all cores, then all second ones.
#pragma once

#include "fake_tree.hpp"

#include <quern/topology/cpu_list.hpp>
#include <quern/topology/machine.hpp>

#include <algorithm>
#include <string>

namespace fake {

enum class numbering { along_the_hierarchy, first_threads_first };

struct shape {
    unsigned packages = 1;
    unsigned nodes = 1;  ///< per package; 0: one node for the whole machine
    unsigned l3s = 1;    ///< per node (or package)
    unsigned cores = 1;  ///< per L3
    unsigned pus = 1;    ///< per core
    numbering numbers = numbering::along_the_hierarchy;

    unsigned l3s_per_package() const { return std::max(1u, nodes) * l3s; }
    unsigned core_count() const { return packages * l3s_per_package() * cores; }
    unsigned pu_count() const { return core_count() * pus; }
    unsigned os_index(unsigned core, unsigned rank) const {
        return numbers == numbering::along_the_hierarchy ? core * pus + rank
                                                         : rank * core_count() + core;
    }
    /// The units of cores [first, first + count), as a /sys file lists them.
    std::string units(unsigned first, unsigned count) const {
        quern::topology::cpu_list all;
        for (unsigned core = first; core < first + count; ++core) {
            for (unsigned rank = 0; rank < pus; ++rank) {
                all.push_back(os_index(core, rank));
            }
        }
        std::sort(all.begin(), all.end());
        return quern::topology::to_text(all) + "\n";
    }
};

inline void write_cache(tree& into, const std::string& cpu, unsigned index, unsigned level,
                        const char* size, const std::string& sharers) {
    const std::string folder = cpu + "/cache/index" + std::to_string(index) + "/";
    into.file(folder + "level", std::to_string(level) + "\n").file(folder + "type", "Unified\n");
    into.file(folder + "size", size).file(folder + "shared_cpu_list", sharers);
}

inline void write_core(tree& into, const shape& of, unsigned core) {
    const unsigned l3 = core / of.cores;
    for (unsigned rank = 0; rank < of.pus; ++rank) {
        const std::string cpu =
            "/sys/devices/system/cpu/cpu" + std::to_string(of.os_index(core, rank));
        into.file(cpu + "/topology/physical_package_id",
                  std::to_string(l3 / of.l3s_per_package()) + "\n");
        into.file(cpu + "/topology/core_cpus_list", of.units(core, 1));
        write_cache(into, cpu, 0, 2, "1024K\n", of.units(core, 1));
        write_cache(into, cpu, 1, 3, "32M\n", of.units(l3 * of.cores, of.cores));
    }
}

inline void write_machine(tree& into, const shape& of) {
    const unsigned nodes = of.nodes == 0 ? 1 : of.packages * of.nodes;
    const unsigned cores_per_node = of.core_count() / nodes;
    into.file("/sys/devices/system/cpu/online", "0-" + std::to_string(of.pu_count() - 1) + "\n");
    into.file("/sys/devices/system/node/online", "0-" + std::to_string(nodes - 1) + "\n");
    for (unsigned node = 0; node < nodes; ++node) {
        const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
        into.file(folder + "/cpulist", of.units(node * cores_per_node, cores_per_node));
        into.file(folder + "/meminfo", "Node 0 MemTotal:  1048576 kB\nNode 0 MemFree:  7 kB\n");
    }
    for (unsigned core = 0; core < of.core_count(); ++core) {
        write_core(into, of, core);
    }
}

inline quern::topology::machine invent(const shape& of) {
    tree files;
    write_machine(files, of);
    return quern::topology::machine::from_sysfs(files.root());
}

}  // namespace fake
