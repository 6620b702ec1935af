// SPDX-License-Identifier: BSL-1.0
// Finds the control groups of this process, as folders of version 1, version 2 or both. For readers
// of limits and statistics of groups; not for users.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::topology::detail {

using notes = std::vector<std::string>;

/// The folders of this process's cgroup and of its ancestors in one hierarchy, as far up as its
/// mount shows.
struct cgroup_chain {
    int version = 2;
    std::vector<std::string> folders;  ///< nearest first; mount point last. Invariant: not empty
};

/// The kernel's files on this process's groups, read once for several controllers: the kernel
/// generates both files for each reader, which takes longer than starting a thread.
class cgroup_files {
public:
    explicit cgroup_files(const system_root& root);

    /// The version-2 chain, if mounted, then the version-1 chain of the controller, if mounted.
    /// Unavailable if there is neither, or if /proc/self/cgroup or /proc/self/mountinfo cannot be
    /// read. Malformed lines become notes.
    outcome<std::vector<cgroup_chain>> chains_of(std::string_view controller, notes& said) const;

    const system_root& root() const noexcept { return m_root; }

private:
    system_root m_root;
    outcome<std::string> m_groups;
    outcome<std::string> m_mounts;
};

}  // namespace quern::topology::detail
