// SPDX-License-Identifier: BSL-1.0
// A study as JSON: runs, medians, correlations and choices, with the keys of the CSV.
#include "grain_findings.hpp"
#include "grain_report.hpp"
#include "json_writer.hpp"

namespace quern::tool {

namespace {

void add_place(json_writer& out, unsigned workers, grain_size grain) {
    out.number("workers", workers);
    out.number("grain", grain);
}

void add_runs(json_writer& out, const study& of) {
    out.begin_array("runs");
    for (const sample& one : of.samples) {
        out.begin_object();
        add_place(out, one.workers, one.grain);
        out.number("repetition", one.repetition);
        for (const metric_info& info : metric_table()) {
            out.number(info.key, in_unit(one.values[info.id], info.shown_as));
        }
        out.end_object();
    }
    out.end_array();
}

void add_medians(json_writer& out, const study& of) {
    out.begin_array("medians");
    for (const unsigned workers : of.workers) {
        for (const grain_size grain : of.grains) {
            const summary time = of.summary_of(workers, grain, metric::time);
            if (time.count == 0) {
                continue;
            }
            out.begin_object();
            add_place(out, workers, grain);
            out.number("runs", time.count);
            out.number("least_time_s", time.least);
            out.number("most_time_s", time.most);
            for (const metric_info& info : metric_table()) {
                out.number(info.key,
                           in_unit(of.summary_of(workers, grain, info.id).median, info.shown_as));
            }
            out.end_object();
        }
    }
    out.end_array();
}

constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();

void add_correlations(json_writer& out, const study& of) {
    out.begin_array("correlations");
    for (const unsigned workers : of.workers) {
        if (of.of(workers).empty()) {
            continue;
        }
        for (const range_findings& range : correlate(of, workers)) {
            for (const correlation& one : range.correlations) {
                out.begin_object();
                out.number("workers", workers);
                out.text("range", range.range ? name_of(*range.range) : "all");
                out.number("grains", range.grains);
                out.number("runs", range.samples);
                out.text("metric", info_of(one.which).key);
                out.number("pearson", one.pearson.value_or(k_unknown));
                out.number("spearman", one.spearman.value_or(k_unknown));
                out.end_object();
            }
        }
    }
    out.end_array();
}

void add_best(json_writer& out, const study& of) {
    out.begin_array("best");
    for (const unsigned workers : of.workers) {
        const auto best = find_best(of, workers);
        if (!best) {
            continue;
        }
        out.begin_object();
        add_place(out, workers, best->grain);
        out.number("time_s", best->time);
        out.numbers("equally_good", best->equally_good);
        out.begin_array("choices");
        for (const choice& one : best->choices) {
            out.begin_object();
            out.text("metric", info_of(one.which).key);
            out.number("grain", one.grain);
            out.number("time_s", one.time);
            out.number("slower_percent", 100 * one.slower);
            out.end_object();
        }
        out.end_array();
        out.end_object();
    }
    out.end_array();
}

}  // namespace

std::string grain_as_json(const study& of) {
    json_writer out;
    out.begin_object();
    out.text("command", of.command);
    out.text("grain", of.name);
    out.text("machine", of.machine);
    out.number("cpus", of.cpus);
    out.number("repetitions", of.repetitions);
    out.text("time_from", of.time_from);
    out.boolean("complete", of.is_complete);
    out.number("noise_percent", 100 * of.noise());
    out.begin_array("without_value");
    for (const std::string& name : of.missing) {
        out.text("", name);
    }
    out.end_array();
    add_runs(out, of);
    add_medians(out, of);
    add_correlations(out, of);
    add_best(out, of);
    out.end_object();
    return out.take();
}

}  // namespace quern::tool
