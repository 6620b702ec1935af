// SPDX-License-Identifier: BSL-1.0
// Reads CPU limits from this process's control groups. Private to the layer; called by limits.cpp
// alone. The three questions are apart: where are the folders (cgroup_paths.cpp), what quota do
// they grant (cgroup_quota.cpp), which CPUs do they name (cgroup_cpuset.cpp).
#pragma once

#include <quern/topology/cgroup_paths.hpp>
#include <quern/topology/limits.hpp>

namespace quern::topology::detail {

outcome<cpu_quota> read_cgroup_quota(const cgroup_files& files, notes& said);
outcome<cpu_set> read_cgroup_cpuset(const cgroup_files& files, notes& said);

}  // namespace quern::topology::detail
