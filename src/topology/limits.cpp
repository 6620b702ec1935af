// SPDX-License-Identifier: BSL-1.0
// Combines the limits and determines the deciding one. Called when a pool starts and by `quern
// info`; affinity.cpp and cgroup_*.cpp read the values.
#include <quern/topology/limits.hpp>

#include <quern/topology/binding.hpp>
#include <quern/topology/detail/text.hpp>

#include "cgroup.hpp"

#include <algorithm>
#include <array>

namespace quern::topology {

namespace {

/// The line "Cpus_allowed_list:\t0-3" of proc/self/status, for roots other than the kernel's.
outcome<cpu_list> affinity_from_status(const system_root& root, detail::notes& said) {
    constexpr std::string_view k_file = "/proc/self/status";
    constexpr std::string_view k_key = "Cpus_allowed_list:";
    const outcome<std::string> text = read_text(root, k_file);
    if (!text) {
        return unavailable{text.reason()};
    }
    for (const std::string_view line : detail::split(*text, '\n')) {
        if (line.starts_with(k_key)) {
            outcome<cpu_list> cpus = parse_cpu_set(line.substr(k_key.size()));
            if (!cpus) {
                said.push_back(root.resolve(k_file) + ": expected a list of CPUs, found " +
                               cpus.reason());
            }
            return cpus;
        }
    }
    return unavailable{root.resolve(k_file) + ": has no line " + std::string(k_key)};
}

struct known_limit {
    limit_kind kind;
    unsigned cpus;  // k_unknown if it does not limit
};

constexpr unsigned k_unknown = ~0u;

std::array<known_limit, 4> in_order(const cpu_limits& limits, unsigned machine_pus) {
    const auto size = [](const cpu_list& cpus) {
        return cpus.empty() ? k_unknown : static_cast<unsigned>(cpus.size());
    };
    const bool has_quota = limits.quota && !limits.quota->unlimited();
    return {{
        {limit_kind::machine, machine_pus == 0 ? k_unknown : machine_pus},
        {limit_kind::cpuset, limits.cpuset ? size(limits.cpuset->cpus) : k_unknown},
        {limit_kind::affinity, limits.affinity ? size(*limits.affinity) : k_unknown},
        {limit_kind::quota, has_quota ? limits.quota->whole_cpus() : k_unknown},
    }};
}

known_limit smallest(const cpu_limits& limits, unsigned machine_pus) {
    const auto all = in_order(limits, machine_pus);
    return *std::min_element(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.cpus < b.cpus; });
}

}  // namespace

std::string_view name_of(limit_kind kind) noexcept {
    switch (kind) {
        case limit_kind::machine:
            return "machine";
        case limit_kind::cpuset:
            return "cpuset";
        case limit_kind::affinity:
            return "affinity mask";
        case limit_kind::quota:
            return "cgroup quota";
    }
    return "";
}

unsigned cpu_quota::whole_cpus() const noexcept {
    const std::uint64_t whole = quota_us / period_us + (quota_us % period_us != 0 ? 1 : 0);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(whole, 1, k_highest_cpu));
}

unsigned cpu_limits::effective_cpus(unsigned machine_pus) const noexcept {
    const unsigned cpus = smallest(*this, machine_pus).cpus;
    return cpus == k_unknown ? 1 : cpus;
}

limit_kind cpu_limits::tightest(unsigned machine_pus) const noexcept {
    return smallest(*this, machine_pus).kind;
}

cpu_limits read_cpu_limits(const system_root& root) {
    cpu_limits limits;
    limits.affinity =
        root.real() ? this_thread_affinity() : affinity_from_status(root, limits.notes);
    const detail::cgroup_files groups(root);
    limits.cpuset = detail::read_cgroup_cpuset(groups, limits.notes);
    limits.quota = detail::read_cgroup_quota(groups, limits.notes);
    // Both readers of the cgroup files report the same faults.
    std::sort(limits.notes.begin(), limits.notes.end());
    limits.notes.erase(std::unique(limits.notes.begin(), limits.notes.end()), limits.notes.end());
    return limits;
}

}  // namespace quern::topology
