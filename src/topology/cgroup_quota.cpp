// SPDX-License-Identifier: BSL-1.0
// The CPU quota of a control group: the smallest of its own and its ancestors', because the kernel
// throttles at each level. Version 2 has one file, cpu.max ("150000 100000", or "max 100000");
// version 1 has two, cpu.cfs_quota_us (-1 for none) and cpu.cfs_period_us. Called by limits.cpp
// alone.
#include "cgroup.hpp"

#include <quern/topology/detail/text.hpp>

namespace quern::topology::detail {

namespace {

constexpr std::uint64_t k_default_period_us =
    100000;  // microseconds; the kernel's default, for files without one

/// The result for one folder. Unavailable: the file is missing or unreadable, which is normal at
/// the top of a hierarchy. Malformed content is noted and unavailable too.
using reading = outcome<cpu_quota>;

reading malformed(const std::string& file, std::string_view text, notes& said) {
    said.push_back(file + ": expected a CPU quota, found " + in_quotes(text));
    return unavailable{said.back()};
}

reading read_version_2(const system_root& root, const std::string& folder, notes& said) {
    const std::string name = folder + "/cpu.max";
    const outcome<std::string> text = read_word(root, name);
    if (!text) {
        return unavailable{text.reason()};
    }
    const std::string file = root.resolve(name);
    const std::vector<std::string_view> field = words(*text);
    if (field.empty() || field.size() > 2) {
        return malformed(file, *text, said);
    }
    const auto period =
        field.size() == 2 ? parse_number(field[1]) : std::optional(k_default_period_us);
    if (field[0] == "max" && period) {
        return cpu_quota{0, *period, file};
    }
    const auto quota = parse_number(field[0]);
    if (!quota || *quota == 0 || !period || *period == 0) {
        return malformed(file, *text, said);
    }
    return cpu_quota{*quota, *period, file};
}

reading read_version_1(const system_root& root, const std::string& folder, notes& said) {
    const std::string name = folder + "/cpu.cfs_quota_us";
    const std::string period_name = folder + "/cpu.cfs_period_us";
    const outcome<std::string> text = read_word(root, name);
    if (!text) {
        return unavailable{text.reason()};
    }
    if (*text == "-1") {
        return cpu_quota{0, k_default_period_us, root.resolve(name)};
    }
    const outcome<std::string> period_text = read_word(root, period_name);
    if (!period_text) {
        said.push_back(period_text.reason() + "; the quota beside it cannot be used");
        return unavailable{said.back()};
    }
    const auto quota = parse_number(*text);
    const auto period = parse_number(*period_text);
    if (!period || *period == 0) {
        return malformed(root.resolve(period_name), *period_text, said);
    }
    if (!quota || *quota == 0) {
        return malformed(root.resolve(name), *text, said);
    }
    return cpu_quota{*quota, *period, root.resolve(name)};
}

}  // namespace

outcome<cpu_quota> read_cgroup_quota(const cgroup_files& files, notes& said) {
    const system_root& root = files.root();
    const outcome<std::vector<cgroup_chain>> chains = files.chains_of("cpu", said);
    if (!chains) {
        return unavailable{chains.reason()};
    }
    reading best = unavailable{
        "no level of this process's control groups has a CPU quota file that can be read"};
    for (const cgroup_chain& chain : *chains) {
        for (const std::string& folder : chain.folders) {
            const reading here = chain.version == 2 ? read_version_2(root, folder, said)
                                                    : read_version_1(root, folder, said);
            if (here && (!best || (!here->unlimited() &&
                                   (best->unlimited() || here->cpus() < best->cpus())))) {
                best = here;
            }
        }
    }
    return best;
}

}  // namespace quern::topology::detail
