// SPDX-License-Identifier: BSL-1.0
// `quern info --json`. The keys are an interface: they may be added to and must not change their
// meaning. A value that is not known is an object with the one key "unavailable", which holds the
// reason.
#include "info.hpp"
#include "json_writer.hpp"

#include <quern/version.hpp>

namespace quern::tool {

namespace {

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

void add_texts(json_writer& json, std::string_view key, const std::vector<std::string>& texts) {
    json.begin_array(key);
    for (const std::string& text : texts) {
        json.text({}, text);
    }
    json.end_array();
}

void add_unavailable(json_writer& json, std::string_view key, const std::string& reason) {
    json.begin_object(key);
    json.text("unavailable", reason);
    json.end_object();
}

void add_units(json_writer& json, const machine& on) {
    const auto optional = [&json](const char* key, unsigned id) {
        if (id != topology::k_none) {
            json.number(key, id);
        }
    };
    json.begin_array("pus");
    for (const auto& pu : on.pus) {
        json.begin_object();
        json.number("os_index", pu.os_index);
        json.number("core", pu.core);
        json.number("package", pu.package);
        json.number("numa_node", pu.numa_node);
        optional("l2", pu.l2);
        optional("l3", pu.l3);
        json.number("smt_rank", pu.smt_rank);
        json.end_object();
    }
    json.end_array();
}

void add_memory(json_writer& json, const machine& on) {
    json.begin_array("numa_nodes");
    for (const auto& node : on.numa_nodes) {
        json.begin_object();
        json.number("os_index", node.os_index);
        json.number("memory_bytes", node.memory_bytes);
        json.numbers("pus", node.pus);
        json.end_object();
    }
    json.end_array();
    json.begin_array("numa_distances");
    for (const auto& row : on.numa_distances) {
        json.numbers({}, row);
    }
    json.end_array();
    json.begin_array("caches");
    for (const auto& cache : on.caches) {
        json.begin_object();
        json.number("level", cache.level);
        json.number("id", cache.id);
        json.number("size_bytes", cache.size_bytes);
        json.numbers("pus", cache.pus);
        json.end_object();
    }
    json.end_array();
}

void add_machine(json_writer& json, const machine& on) {
    json.begin_object("machine");
    json.text("source", name_of(on.source));
    json.text("description", on.description);
    json.boolean("is_this_computer", on.is_this_computer());
    json.number("packages", on.package_count());
    json.number("cores", on.cores.size());
    add_units(json, on);
    add_memory(json, on);
    add_texts(json, "notes", on.notes);
    json.end_object();
}

void add_quota(json_writer& json, const topology::outcome<topology::cpu_quota>& quota) {
    if (!quota) {
        return add_unavailable(json, "quota", quota.reason());
    }
    json.begin_object("quota");
    json.boolean("unlimited", quota->unlimited());
    if (!quota->unlimited()) {
        json.number("quota_us", quota->quota_us);
        json.number("period_us", quota->period_us);
        json.number("cpus", quota->cpus());
        json.number("whole_cpus", quota->whole_cpus());
    }
    json.text("file", quota->file);
    json.end_object();
}

void add_limits(json_writer& json, const info_report& report) {
    const auto& limits = report.limits;
    const unsigned pus = report.machine.pu_count();
    json.begin_object("limits");
    if (limits.affinity) {
        json.begin_object("affinity");
        json.numbers("cpus", *limits.affinity);
        json.end_object();
    } else {
        add_unavailable(json, "affinity", limits.affinity.reason());
    }
    if (limits.cpuset) {
        json.begin_object("cpuset");
        json.numbers("cpus", limits.cpuset->cpus);
        json.text("file", limits.cpuset->file);
        json.end_object();
    } else {
        add_unavailable(json, "cpuset", limits.cpuset.reason());
    }
    add_quota(json, limits.quota);
    if (report.machine.is_this_computer()) {
        json.number("effective_cpus", limits.effective_cpus(pus));
        json.text("set_by", name_of(limits.tightest(pus)));
    }
    add_texts(json, "notes", limits.notes);
    json.end_object();
}

void add_workers(json_writer& json, const topology::worker_choice& workers) {
    json.begin_object("workers");
    json.number("count", workers.count);
    json.boolean("requested", workers.requested);
    json.text("decided_by", workers.requested ? "request" : name_of(workers.decided_by));
    json.text("why", workers.why);
    json.end_object();
}

void add_settings(json_writer& json, const settings& chosen) {
    json.begin_object("settings");
    for (const setting& row : setting_table()) {
        const setting_value& value = chosen.at(row.name);
        json.begin_object(row.name);
        json.text("value", value.text);
        json.text("origin", value.origin);
        json.end_object();
    }
    json.end_object();
}

void add_placements(json_writer& json, const std::vector<placement>& placements) {
    json.begin_object("binding");
    for (const placement& placed : placements) {
        const std::string_view name = name_of(placed.how.policy);
        if (!placed.pus) {
            add_unavailable(json, name, placed.pus.reason());
        } else if (placed.how.policy == topology::binding_policy::none) {
            json.numbers(name, std::vector<unsigned>{});
        } else {
            json.numbers(name, *placed.pus);
        }
    }
    json.end_object();
}

}  // namespace

std::string info_as_json(const info_report& report) {
    json_writer json;
    json.begin_object();
    json.text("version", QUERN_VERSION_STRING);
    add_machine(json, report.machine);
    add_limits(json, report);
    add_workers(json, report.workers);
    add_settings(json, report.chosen);
    if (!report.placements.empty()) {
        add_placements(json, report.placements);
    }
    json.begin_array("features");
    for (const feature& tried : report.features) {
        json.begin_object();
        json.text("name", tried.name);
        json.boolean("available", tried.available);
        json.text("detail", tried.detail);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace quern::tool
