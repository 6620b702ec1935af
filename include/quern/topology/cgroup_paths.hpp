// SPDX-License-Identifier: BSL-1.0
// Where the control groups of this process are, as folders of version 1, version 2 or both. For
// what reads limits and statistics of groups; not for users.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

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
/// read. Malformed lines become notes.
outcome<std::vector<cgroup_chain>> find_cgroup_chains(const system_root& root,
                                                      std::string_view controller, notes& said);

}  // namespace quern::topology::detail
