// SPDX-License-Identifier: BSL-1.0
// The CPUs that a cpuset control group allows. The kernel keeps the effective set in one file, so
// the nearest folder with that file decides; folders without it (controller not enabled there)
// inherit from above. Called only by limits.cpp.
#include "cgroup.hpp"

#include <quern/topology/detail/text.hpp>

namespace quern::topology::detail {

namespace {

/// Version 1 has the effective set since Linux 3.17, the configured one always.
std::vector<std::string_view> file_names(int version) {
    if (version == 2) {
        return {"/cpuset.cpus.effective"};
    }
    return {"/cpuset.effective_cpus", "/cpuset.cpus"};
}

/// The set in the first of the folder's files that has one; an empty set does not count.
std::optional<cpu_set> read_folder(const system_root& root, const std::string& folder, int version,
                                   notes& said) {
    for (const std::string_view name : file_names(version)) {
        const std::string path = folder + std::string(name);
        const outcome<std::string> text = read_word(root, path);
        if (!text) {
            continue;
        }
        const outcome<cpu_list> cpus = parse_cpu_set(*text);
        if (!cpus) {
            said.push_back(root.resolve(path) + ": expected a list of CPUs, found " +
                           cpus.reason());
        } else if (!cpus->empty()) {
            return cpu_set{*cpus, root.resolve(path)};
        }
    }
    return std::nullopt;
}

}  // namespace

outcome<cpu_set> read_cgroup_cpuset(const cgroup_files& files, notes& said) {
    const system_root& root = files.root();
    const outcome<std::vector<cgroup_chain>> chains = files.chains_of("cpuset", said);
    if (!chains) {
        return unavailable{chains.reason()};
    }
    std::optional<cpu_set> smallest;
    for (const cgroup_chain& chain : *chains) {
        for (const std::string& folder : chain.folders) {
            std::optional<cpu_set> here = read_folder(root, folder, chain.version, said);
            if (!here) {
                continue;
            }
            if (!smallest || here->cpus.size() < smallest->cpus.size()) {
                smallest = std::move(here);
            }
            break;
        }
    }
    if (!smallest) {
        return unavailable{
            "no level of this process's control groups has a cpuset file that can be read"};
    }
    return *smallest;
}

}  // namespace quern::topology::detail
