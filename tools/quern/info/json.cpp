// SPDX-License-Identifier: BSL-1.0
// `quern info --json`. The keys are an interface: keys may be added, but keep their meaning. An
// unknown value is an object with the one key "unavailable", which holds the reason.
#include "info/info.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/version.hpp>

namespace quern::tool {

namespace {

using quern::detail::json;
using topology::machine;

std::string_view name_of(topology::machine_source source) {
    switch (source) {
        case topology::machine_source::hwloc:
            return "hwloc";
        case topology::machine_source::sysfs:
            return "sysfs";
        case topology::machine_source::synthetic:
            return "synthetic";
    }
    return "";
}

void add_unavailable(json& out, std::string_view key, const std::string& reason) {
    out.open('{', key).field("unavailable", reason).close();
}

std::optional<unsigned> known(unsigned id) {
    return id == topology::k_none ? std::nullopt : std::optional(id);
}

void add_machine(json& out, const machine& on) {
    out.open('{', "machine");
    out.fields("source", name_of(on.source), "description", on.description, "is_this_computer",
               on.is_this_computer(), "packages", on.package_count(), "cores", on.cores.size());
    out.open('[', "pus");
    for (const auto& pu : on.pus) {
        out.open('{').fields("os_index", pu.os_index, "core", pu.core, "package", pu.package,
                             "numa_node", pu.numa_node, "l2", known(pu.l2), "l3", known(pu.l3),
                             "smt_rank", pu.smt_rank);
        out.close();
    }
    out.close().open('[', "numa_nodes");
    for (const auto& node : on.numa_nodes) {
        out.open('{').fields("os_index", node.os_index, "memory_bytes", node.memory_bytes);
        out.list("pus", node.pus).close();
    }
    out.close().open('[', "numa_distances");
    for (const auto& row : on.numa_distances) {
        out.list({}, row);
    }
    out.close().open('[', "caches");
    for (const auto& cache : on.caches) {
        out.open('{').fields("level", cache.level, "id", cache.id, "size_bytes", cache.size_bytes);
        out.list("pus", cache.pus).close();
    }
    out.close().list("notes", on.notes).close();
}

void add_quota(json& out, const topology::outcome<topology::cpu_quota>& quota) {
    if (!quota) {
        return add_unavailable(out, "quota", quota.reason());
    }
    out.open('{', "quota").field("unlimited", quota->unlimited());
    if (!quota->unlimited()) {
        out.fields("quota_us", quota->quota_us, "period_us", quota->period_us, "cpus",
                   quota->cpus(), "whole_cpus", quota->whole_cpus());
    }
    out.field("file", quota->file).close();
}

void add_limits(json& out, const info_report& report) {
    const auto& limits = report.limits;
    const unsigned pus = report.machine.pu_count();
    out.open('{', "limits");
    if (limits.affinity) {
        out.open('{', "affinity").list("cpus", *limits.affinity).close();
    } else {
        add_unavailable(out, "affinity", limits.affinity.reason());
    }
    if (limits.cpuset) {
        out.open('{', "cpuset").list("cpus", limits.cpuset->cpus);
        out.field("file", limits.cpuset->file).close();
    } else {
        add_unavailable(out, "cpuset", limits.cpuset.reason());
    }
    add_quota(out, limits.quota);
    if (report.machine.is_this_computer()) {
        out.fields("effective_cpus", limits.effective_cpus(pus), "set_by",
                   name_of(limits.tightest(pus)));
    }
    out.list("notes", limits.notes).close();
}

void add_placements(json& out, const std::vector<placement>& placements) {
    out.open('{', "binding");
    for (const placement& placed : placements) {
        const std::string_view name = name_of(placed.how.policy);
        if (!placed.pus) {
            add_unavailable(out, name, placed.pus.reason());
        } else if (placed.how.policy == topology::binding_policy::none) {
            out.list(name, topology::cpu_list());
        } else {
            out.list(name, *placed.pus);
        }
    }
    out.close();
}

}  // namespace

std::string info_as_json(const info_report& report) {
    const topology::worker_choice& workers = report.workers;
    json out(json::layout::indented);
    out.open('{').field("version", QUERN_VERSION_STRING);
    add_machine(out, report.machine);
    add_limits(out, report);
    out.open('{', "workers");
    out.fields("count", workers.count, "requested", workers.requested, "decided_by",
               workers.requested ? "request" : name_of(workers.decided_by), "why", workers.why);
    out.close().open('{', "settings");
    for (const setting& row : setting_table()) {
        const setting_value& value = report.chosen.at(row.name);
        out.open('{', row.name).fields("value", value.text, "origin", value.origin).close();
    }
    out.close();
    if (!report.placements.empty()) {
        add_placements(out, report.placements);
    }
    out.open('[', "features");
    for (const feature& tried : report.features) {
        out.open('{').fields("name", tried.name, "available", tried.available, "detail",
                             tried.detail);
        out.close();
    }
    return out.take();
}

}  // namespace quern::tool
