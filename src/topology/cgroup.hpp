// SPDX-License-Identifier: BSL-1.0
// Reads CPU limits from this process's control groups. Private to the layer; called by limits.cpp
// alone. One file per question: the folders (cgroup_paths.cpp), their quota (cgroup_quota.cpp),
// their CPUs (cgroup_cpuset.cpp).
#pragma once

#include <quern/topology/detail/cgroup_paths.hpp>
#include <quern/topology/limits.hpp>

namespace quern::topology::detail {

outcome<cpu_quota> read_cgroup_quota(const cgroup_files& files, notes& said);
outcome<cpu_set> read_cgroup_cpuset(const cgroup_files& files, notes& said);

}  // namespace quern::topology::detail
