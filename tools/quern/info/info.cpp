// SPDX-License-Identifier: BSL-1.0
// `quern info`: what Quern sees of the machine and its limits, how many workers it would start, and
// why. The first thing to request for a slow program or a report. Starts no worker and changes
// nothing.
#include "info/info.hpp"

#include "command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace quern::tool {

namespace {

constexpr const char* k_examples = R"(Examples:
  quern info                  the machine, the limits, the number of workers and why
  quern info --json           the same, for programs
  quern info --binding        where each binding policy would put the workers
  quern info --workers 4 --binding=0,2-4
  quern info --quern:config=quern.toml
                              the settings of a runtime, and where each is from
  HWLOC_SYNTHETIC="pack:2 [numa] l3:2 core:4 pu:2" quern info --binding
                              the same questions about an invented machine)";

using topology::binding;
using topology::machine;
using topology::system_root;

constexpr unsigned k_most_workers = 65536;  // more is a typing error

struct info_options {
    bool json = false;
    bool show_binding = false;
    std::string binding;              ///< empty: all named policies
    std::optional<unsigned> workers;  ///< 0: as many as allowed
    system_root root;
};

std::vector<binding> wanted_bindings(const info_options& options) {
    std::vector<binding> wanted;
    if (!options.show_binding) {
        return wanted;
    }
    if (!options.binding.empty()) {
        const auto parsed = topology::parse_binding(options.binding);
        if (!parsed) {
            throw usage_error("quern info: --binding: " + parsed.reason());
        }
        wanted.push_back(*parsed);
        return wanted;
    }
    for (const topology::binding_policy policy : topology::k_named_policies) {
        wanted.push_back({policy, {}});
    }
    return wanted;
}

int show_info(const info_options& options) {
    const std::vector<binding> wanted = wanted_bindings(options);
    info_report report;
    report.machine = options.root.real() ? machine::detect() : machine::from_sysfs(options.root);
    report.limits = topology::read_cpu_limits(options.root);
    report.chosen = reading_settings(current_settings);
    report.workers = topology::choose_workers(
        report.machine, report.limits,
        options.workers ? options.workers : report.chosen.number("threads"));
    report.features = probe_features(options.root);
    const topology::cpu_list allowed = topology::allowed_pus(report.machine, report.limits);
    for (const binding& how : wanted) {
        report.placements.push_back(
            {how, topology::assign(report.machine, allowed, how, report.workers.count)});
    }
    fmt::print("{}", options.json ? info_as_json(report) : info_as_text(report));
    return k_success;
}

}  // namespace

void add_info(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<info_options>();
    cli::command info =
        quern.subcommand("info", "Show the machine, its limits, the workers chosen and why");
    info.keep_unknown();
    info.footer(k_examples);
    info.add_flag("--json", options->json, "Print JSON");
    cli::option binding =
        info.add("--binding", options->binding,
                 "Show where workers would be bound: by every policy, or by the one given "
                 "(none, compact, scatter, balanced, numa-balanced, a list such as "
                 "0,2-5,8, cores:0-3, or node:1)");
    binding.value_may_be_missing().type("[POLICY]");
    info.add("--workers", options->workers,
             "Answer for this number of workers; 0 lets Quern choose")
        .type("N")
        .in_range(0u, k_most_workers);
    info.add("--root", options->root.prefix, "Read /proc, /sys and /dev below this folder")
        .type("DIR")
        .existing_folder();
    info.when_parsed([options, binding, &chosen] {
        options->show_binding = binding.given();
        chosen = [options] { return show_info(*options); };
    });
}

}  // namespace quern::tool
