// SPDX-License-Identifier: BSL-1.0
// `quern info` as text: sections of aligned lines.
#include "info/info.hpp"

#include <quern/base/detail/text.hpp>
#include <quern/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace quern::tool {

namespace {

using topology::cache;
using topology::cpu_list;
using topology::machine;

using quern::detail::count_words;

std::string bytes(std::uint64_t size) {
    return size == 0 ? "unknown size" : quern::detail::bytes_words(static_cast<double>(size));
}

/// One aligned line of a section.
void line(std::string& out, std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "  {:<28}{}\n", key, value);
}

void section(std::string& out, std::string_view title) {
    fmt::format_to(std::back_inserter(out), "{}{}\n", out.empty() ? "" : "\n", title);
}

void add_caches(std::string& out, const machine& on) {
    // Caches of one level, size and width share a line.
    for (std::size_t first = 0; first < on.caches.size();) {
        const cache& like = on.caches[first];
        const auto differs = [&](const cache& c) {
            return c.level != like.level || c.size_bytes != like.size_bytes ||
                   c.pus.size() != like.pus.size();
        };
        const auto begin = on.caches.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count =
            static_cast<std::size_t>(std::find_if(begin, on.caches.end(), differs) - begin);
        line(out, fmt::format("L{} caches", like.level),
             fmt::format("{} of {}, each for {}", count, bytes(like.size_bytes),
                         count_words(like.pus.size(), "PU")));
        first += count;
    }
}

void add_nodes(std::string& out, const machine& on) {
    for (std::size_t n = 0; n < on.numa_nodes.size(); ++n) {
        const auto& node = on.numa_nodes[n];
        std::string about =
            fmt::format("{}, {}", bytes(node.memory_bytes),
                        node.pus.empty() ? "no PUs" : "PUs " + topology::to_text(node.pus));
        if (on.numa_nodes.size() > 1 && !on.numa_distances.empty()) {
            about += fmt::format(", distances {}", fmt::join(on.numa_distances[n], " "));
        }
        line(out, fmt::format("NUMA node {}", node.os_index), about);
    }
}

void add_machine(std::string& out, const machine& on) {
    section(out, "machine");
    line(out, "read by", on.description + (on.is_this_computer() ? "" : " (not this computer)"));
    line(out, "packages, cores",
         fmt::format("{}, {}", count_words(on.package_count(), "package"),
                     count_words(on.cores.size(), "core")));
    line(out, "processing units (PUs)",
         fmt::format("{}: {}", on.pu_count(), topology::to_text(on.all_pus())));
    add_caches(out, on);
    add_nodes(out, on);
    for (const std::string& note : on.notes) {
        line(out, "note", note);
    }
}

std::string describe(const topology::outcome<topology::cpu_quota>& quota) {
    if (!quota) {
        return "unknown: " + quota.reason();
    }
    if (quota->unlimited()) {
        return fmt::format("none ({})", quota->file);
    }
    return fmt::format("{:.4g} CPUs: {} of every {} microseconds ({})", quota->cpus(),
                       quota->quota_us, quota->period_us, quota->file);
}

void add_limits(std::string& out, const info_report& report) {
    const auto& limits = report.limits;
    const unsigned pus = report.machine.pu_count();
    const auto cpus = [](const cpu_list& list) {
        return fmt::format("{}: {}", count_words(list.size(), "CPU"), topology::to_text(list));
    };
    section(out, report.machine.is_this_computer() ? "limits"
                                                   : "limits (of this computer, not applied)");
    line(out, "affinity mask",
         limits.affinity ? cpus(*limits.affinity) : "unknown: " + limits.affinity.reason());
    line(out, "cpuset",
         limits.cpuset ? fmt::format("{} ({})", cpus(limits.cpuset->cpus), limits.cpuset->file)
                       : "unknown: " + limits.cpuset.reason());
    line(out, "cgroup quota", describe(limits.quota));
    if (report.machine.is_this_computer()) {
        line(out, "effective CPUs",
             fmt::format("{}, set by: {}", limits.effective_cpus(pus),
                         name_of(limits.tightest(pus))));
    }
    for (const std::string& note : limits.notes) {
        line(out, "note", note);
    }
}

/// In the order of the table, the values in a column.
void add_settings(std::string& out, const settings& chosen) {
    section(out, "settings, and where each is from");
    for (const setting& row : setting_table()) {
        const setting_value& value = chosen.at(row.name);
        line(out, row.name,
             fmt::format("{:<20} {}", value.text.empty() ? "none" : value.text, value.origin));
    }
}

void add_placements(std::string& out, const info_report& report) {
    if (report.placements.empty()) {
        return;
    }
    section(out, fmt::format("binding (the PU of each of {}, in order)",
                             count_words(report.workers.count, "worker")));
    for (const placement& placed : report.placements) {
        const bool bound = placed.how.policy != topology::binding_policy::none;
        line(out, name_of(placed.how.policy),
             !placed.pus ? "impossible: " + placed.pus.reason()
             : bound     ? topology::to_text(*placed.pus)
                         : "not bound");
    }
}

void add_features(std::string& out, const std::vector<feature>& features, bool available) {
    const auto wanted = [available](const feature& f) { return f.available == available; };
    section(out, available ? "available" : "unavailable, and why");
    for (const feature& tried : features) {
        if (wanted(tried)) {
            line(out, tried.name, tried.detail);
        }
    }
    if (std::none_of(features.begin(), features.end(), wanted)) {
        out += "  nothing\n";
    }
}

}  // namespace

std::string info_as_text(const info_report& report) {
    std::string out;
    section(out, "Quern " QUERN_VERSION_STRING);
    add_machine(out, report.machine);
    add_limits(out, report);
    section(out, "workers");
    out += "  " + report.workers.why + "\n";
    add_settings(out, report.chosen);
    add_placements(out, report);
    add_features(out, report.features, true);
    add_features(out, report.features, false);
    return out;
}

}  // namespace quern::tool
