// SPDX-License-Identifier: BSL-1.0
// Finds this process's control groups and reads CPU limits from them. Private to the layer; called
// by limits.cpp alone. The three questions are apart: where are the folders (cgroup_paths.cpp),
// what quota do they grant (cgroup_quota.cpp), which CPUs do they name (cgroup_cpuset.cpp).
#pragma once

#include <quern/topology/limits.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::topology::detail {

using notes = std::vector<std::string>;

/// The folders of this process's cgroup and of its ancestors in one hierarchy, as far up as its
/// mount shows them.
struct cgroup_chain {
    int version = 2;
    std::vector<std::string>
        folders;  ///< nearest first; the mount point last. Invariant: not empty
};

/// The version-2 chain, if mounted, then the version-1 chain of the controller, if mounted.
/// Unavailable when there is neither, or when /proc/self/cgroup or /proc/self/mountinfo cannot be
/// read.
outcome<std::vector<cgroup_chain>> find_cgroup_chains(const system_root& root,
                                                      std::string_view controller, notes& said);

outcome<cpu_quota> read_cgroup_quota(const system_root& root, notes& said);
outcome<cpu_set> read_cgroup_cpuset(const system_root& root, notes& said);

}  // namespace quern::topology::detail
