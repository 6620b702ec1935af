// SPDX-License-Identifier: BSL-1.0
// The CPUs that this process may use: affinity mask, cgroup cpuset and cgroup CPU quota, each with
// its value or the reason why it is unknown. Read when a pool starts, by `quern info`, and at
// intervals while running, since a quota can change. Must never throw on the content of a file:
// malformed content becomes a note.
#pragma once

#include <quern/topology/cpu_list.hpp>
#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

/// CPU time that a cgroup grants: `quota_us` per `period_us` of wall-clock time, both in
/// microseconds.
struct cpu_quota {
    std::uint64_t quota_us = 0;  ///< 0: no limit
    std::uint64_t period_us = 0;
    std::string file;  ///< of the tightest ancestor, or of the nearest if there is no limit

    bool unlimited() const noexcept { return quota_us == 0; }
    /// The exact budget, such as 1.5. Requires: !unlimited().
    double cpus() const noexcept {
        return static_cast<double>(quota_us) / static_cast<double>(period_us);
    }
    /// The budget rounded up, at least 1: half a CPU gives one worker, 1.5 CPUs give two, since one
    /// worker fewer would leave granted time unused. The workers together are then throttled at
    /// times. Requires: !unlimited().
    unsigned whole_cpus() const noexcept;

    friend bool operator==(const cpu_quota&, const cpu_quota&) = default;
};

/// The CPUs of a cpuset cgroup.
struct cpu_set {
    cpu_list cpus;  ///< ascending
    std::string file;

    friend bool operator==(const cpu_set&, const cpu_set&) = default;
};

enum class limit_kind { machine, cpuset, affinity, quota };
std::string_view name_of(limit_kind kind) noexcept;

struct cpu_limits {
    outcome<cpu_list> affinity = unavailable{"not read"};  ///< ascending
    outcome<cpu_set> cpuset = unavailable{"not read"};
    outcome<cpu_quota> quota = unavailable{"not read"};
    std::vector<std::string>
        notes;  ///< malformed or odd files: the file, the expectation, the text found

    /// max(1, min(machine, affinity, cpuset, quota rounded up)), of those that are known.
    unsigned effective_cpus(unsigned machine_pus) const noexcept;

    /// The limit that set that number; the first of equals in the order of limit_kind, so `machine`
    /// means that no limit applies.
    limit_kind tightest(unsigned machine_pus) const noexcept;
};

/// Reads all limits of the calling thread and its process.
///
/// The affinity mask comes from the kernel, or from proc/self/status under a root other than "/".
/// Cgroups are found through /proc/self/cgroup and /proc/self/mountinfo: version 1 (controllers cpu
/// and cpuset), version 2, and hybrid mounts of both. The quota is the smallest over the process's
/// cgroup and all ancestors that the mount shows. Cost: about ten small files, below a millisecond.
/// Thread safe.
cpu_limits read_cpu_limits(const system_root& root = {});

}  // namespace quern::topology
