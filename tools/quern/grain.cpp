// SPDX-License-Identifier: BSL-1.0
// `quern grain`: how large should tasks be? Runs a program with a row of grains and shows execution
// time beside the metrics that could stand for it while a program runs: the study of Grubel 2016,
// chapters 5 and 7, as one command. docs/grain.md says how to read the answer.
#include "command.hpp"
#include "grain_plan.hpp"
#include "grain_report.hpp"
#include "grain_runs.hpp"

#include <quern/base/nearest_match.hpp>
#include <quern/scheduler/settings.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>
#include <quern/topology/workers.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

namespace quern::tool {

namespace {

constexpr int k_interrupted = 130;  // as shells say it of SIGINT
constexpr unsigned k_most_repetitions = 1000;
constexpr unsigned k_most_per_decade = 20;  // two digits tell them apart

constexpr const char* k_examples = R"(Examples:
  quern grain --from 1000 --to 5e6 -- heat --points 10000000 --steps 50 --partition {partition}
  quern grain --values 1000,10000,100000 --html grain.html -- build/bin/heat --partition={size}
  quern grain --from 1e3 --to 1e6 --workers 1,2,4,all --csv grain.csv -- heat --partition {p}
Each run gets its number of workers by QUERN_THREADS: leave it away from the program's arguments.)";

struct grain_options {
    std::vector<std::string> words;
    std::string from, to, values;
    unsigned per_decade = 3;
    unsigned repetitions = 3;
    std::string workers = "1,all";
    std::string time;
    bool quick = false;
    std::string csv, html, json;
    bool has_per_decade = false;
    bool has_repetitions = false;
};

std::vector<grain_size> chosen_grains(const grain_options& o) {
    const bool has_range = !o.from.empty() || !o.to.empty();
    if (!o.values.empty()) {
        if (has_range || o.has_per_decade) {
            throw usage_error(
                "quern grain: --values beside --from, --to or --per-decade; accepted: "
                "either the values or their range");
        }
        return parse_grains("--values", o.values);
    }
    if (o.from.empty() || o.to.empty()) {
        throw usage_error(fmt::format("quern grain: {} missing; give --from and --to, or --values",
                                      !has_range       ? "the grains are"
                                      : o.from.empty() ? "--from is"
                                                       : "--to is"));
    }
    const unsigned steps = o.quick && !o.has_per_decade ? 1 : o.per_decade;
    return series_of_grains(parse_grain("--from", o.from), parse_grain("--to", o.to), steps);
}

unsigned workers_of_this_machine() {
    const topology::machine on = topology::machine::detect();
    return topology::choose_workers(on, topology::read_cpu_limits({}),
                                    reading_settings(current_settings).number("threads"))
        .count;
}

/// The first "model name" of /proc/cpuinfo; empty where there is none.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            const std::size_t colon = line.find(": ");
            return colon == std::string::npos ? "" : line.substr(colon + 2);
        }
    }
    return "";
}

study planned_study(const grain_options& o, const command_template& command) {
    study planned;
    planned.command = command.text();
    planned.name = command.name();
    planned.cpus = workers_of_this_machine();
    const std::string processor = processor_name();
    planned.machine = fmt::format("{} CPU{}{}", planned.cpus, planned.cpus == 1 ? "" : "s",
                                  processor.empty() ? "" : ", " + processor);
    planned.repetitions = o.quick && !o.has_repetitions ? 1 : o.repetitions;
    if (!o.time.empty()) {
        planned.time_from = fmt::format("what the program prints, by '{}'", o.time);
    }
    planned.grains = chosen_grains(o);
    planned.workers = parse_workers("--workers", o.workers, planned.cpus);
    return planned;
}

/// Opens it before hours are spent, and does not touch what is in it until there is something
/// better.
void check_writable(const char* option, const std::string& path) {
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
        throw usage_error(fmt::format("quern grain: {} is '{}', which cannot be written: {}",
                                      option, path, std::strerror(errno)));
    }
}

void write_file(const std::string& path, const std::string& text) {
    if (path.empty()) {
        return;
    }
    std::ofstream file(path, std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
        throw std::runtime_error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    }
}

void report(const grain_options& o, study& done) {
    derive(done);
    fmt::print("{}", grain_as_text(done));
    std::fflush(stdout);
    write_file(o.csv, grain_as_csv(done));
    write_file(o.json, o.json.empty() ? "" : grain_as_json(done));
    write_file(o.html, o.html.empty() ? "" : grain_as_html(done));
}

int study_grain(const grain_options& o) {
    const command_template command(o.words);
    const time_pattern time(o.time);
    study plan = planned_study(o, command);
    check_writable("--csv", o.csv);
    check_writable("--json", o.json);
    check_writable("--html", o.html);
    const run_outcome outcome = run_all(command, time, plan);
    if (!plan.samples.empty()) {
        report(o, plan);
    }
    if (!outcome.failure.empty()) {
        fmt::print(stderr, "{}", outcome.failure);
        return k_failure;
    }
    if (outcome.is_interrupted) {
        fmt::print(stderr, "quern grain: interrupted after {} run{}\n", plan.samples.size(),
                   plan.samples.size() == 1 ? "" : "s");
        return k_interrupted;
    }
    return k_success;
}

/// Options that mean something else when they are not given.
struct given_options {
    cli::option per_decade;
    cli::option repetitions;
};

given_options add_options(cli::command& grain, grain_options& o) {
    grain.add("--from", o.from, "The smallest grain").type("N");
    grain.add("--to", o.to, "The largest grain").type("N");
    const cli::option per_decade =
        grain.add("--per-decade", o.per_decade, "Grains in each power of ten; 3: 1, 2, 5")
            .type("N")
            .shows_default()
            .in_range(1u, k_most_per_decade);
    grain.add("--values", o.values, "The grains themselves, instead of a range").type("N,N,...");
    const cli::option repetitions = grain.add("--repetitions", o.repetitions, "Runs of each kind")
                                        .type("N")
                                        .shows_default()
                                        .in_range(1u, k_most_repetitions);
    grain
        .add("--workers", o.workers,
             "Numbers of workers; all: as many as Quern would take here. Wait times need 1")
        .type("N,N,...")
        .shows_default();
    grain
        .add("--time", o.time,
             "Take the execution time from what the program prints: the group of this regular "
             "expression, in seconds; otherwise it is the uptime of the runtime")
        .type("PATTERN");
    grain.add_flag("--quick", o.quick, "One grain per decade and one repetition, unless said");
    grain.add("--csv", o.csv, "Write a line per run to this file").type("FILE");
    grain.add("--json", o.json, "Write everything to this file").type("FILE");
    grain.add("--html", o.html, "Write a page with charts to this file").type("FILE");
    return {per_decade, repetitions};
}

/// Options of the program are taken for ours where there is no "--"; so the message speaks of both.
void reject_unknown_options(const cli::command& grain, const grain_options& o) {
    const std::vector<std::string> names = grain.option_names();
    const std::vector<std::string_view> ours(names.begin(), names.end());
    for (const std::string& word : grain.rest()) {
        if (!o.words.empty() && word != "--" && word.starts_with('-')) {
            throw usage_error(fmt::format(
                "quern grain: unknown option '{}'; {}; options of the program belong behind '--': "
                "quern grain OPTION... -- PROGRAM ARGUMENT...",
                word, quern::detail::accepted_values(word.substr(0, word.find('=')), ours)));
        }
    }
}

}  // namespace

void add_grain(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<grain_options>();
    cli::command grain = quern.subcommand(
        "grain", "Run a program with tasks of many sizes; show time and what goes along with it");
    grain.keep_unknown();
    grain.footer(k_examples);
    const given_options given = add_options(grain, *options);
    grain.add("program", options->words, "The program and its arguments, behind --")
        .type("-- PROGRAM ARGUMENT...");
    grain.when_parsed([grain, given, options, &chosen] {
        options->has_per_decade = given.per_decade.given();
        options->has_repetitions = given.repetitions.given();
        reject_unknown_options(grain, *options);
        chosen = [options] { return study_grain(*options); };
    });
}

}  // namespace quern::tool
