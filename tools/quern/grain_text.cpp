// SPDX-License-Identifier: BSL-1.0
// A study as tables on a terminal, and as CSV.
#include "grain_findings.hpp"
#include "grain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quern::tool {

namespace {

struct text_column {
    const char* head;
    metric which;
};

constexpr text_column k_columns[] = {
    {"time s", metric::time},
    {"tasks", metric::tasks},
    {"task µs", metric::duration},
    {"ovh. µs", metric::overhead},
    {"idle %", metric::idle},
    {"starv. %", metric::starvation},
    {"TM s", metric::management},
    {"wait µs", metric::wait},
    {"WT s", metric::wait_per_core},
    {"TM+WT s", metric::management_and_wait},
    {"p-access", metric::pending_accesses},
    {"p-miss", metric::pending_misses},
};

bool is_known(const study& of, unsigned workers, metric which) {
    const auto samples = of.of(workers);
    return std::any_of(samples.begin(), samples.end(),
                       [=](const sample* one) { return std::isfinite(one->values[which]); });
}

std::vector<text_column> known_columns(const study& of, unsigned workers) {
    std::vector<text_column> known(std::begin(k_columns), std::end(k_columns));
    std::erase_if(known, [&](const text_column& c) { return !is_known(of, workers, c.which); });
    return known;
}

void add_table(std::string& out, const study& of, unsigned workers) {
    const auto to = std::back_inserter(out);
    const std::vector<text_column> columns = known_columns(of, workers);
    const int width = std::max(10, static_cast<int>(of.name.size()) + 1);
    fmt::format_to(to, "\n{}\n{:>{}}", count_of_workers(workers), of.name, width);
    for (const text_column& column : columns) {
        fmt::format_to(to, "{:>10}{}", column.head, column.which == metric::time ? "   +- %" : "");
    }
    fmt::format_to(to, "  range\n");
    for (const grain_size grain : of.grains) {
        const summary time = of.summary_of(workers, grain, metric::time);
        if (time.count == 0) {
            continue;
        }
        fmt::format_to(to, "{:>{}}", grain, width);
        for (const text_column& column : columns) {
            const double median = of.summary_of(workers, grain, column.which).median;
            fmt::format_to(to, "{:>10}", shown_bare(median, info_of(column.which).shown_as));
            if (column.which == metric::time) {
                fmt::format_to(to, "{:7.1f}", 100 * time.spread());
            }
        }
        const double duration = of.least_disturbed_duration(grain);
        fmt::format_to(to, "  {}\n", std::isfinite(duration) ? name_of(band_of(duration)) : "?");
    }
}

std::string list_of(const std::vector<grain_size>& grains) {
    std::string text;
    for (const grain_size grain : grains) {
        text += (text.empty() ? "" : ", ") + std::to_string(grain);
    }
    return text;
}

void add_choices(std::string& out, const study& of, unsigned workers) {
    const auto best = find_best(of, workers);
    if (!best) {
        return;
    }
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "\nbest, {}: {} {}, {}", count_of_workers(workers), of.name, best->grain,
                   shown(best->time, quantity::seconds));
    if (!best->equally_good.empty()) {
        fmt::format_to(to, "; within the spread of that: {}", list_of(best->equally_good));
    }
    fmt::format_to(to, "\n  {:<34}{:>12}{:>10}  {}\n", "least", of.name, "time s",
                   "slower than the best");
    for (const choice& one : best->choices) {
        fmt::format_to(to, "  {:<34}{:>12}{:>10}{:>11.1f} %\n", info_of(one.which).title, one.grain,
                       shown_bare(one.time, quantity::seconds), 100 * one.slower);
    }
}

std::string shown_pair(const correlation& one) {
    const auto part = [](const std::optional<double>& r) {
        return r ? fmt::format("{:.2f}", *r) : std::string("-");
    };
    return part(one.pearson) + "/" + part(one.spearman);
}

void add_correlations(std::string& out, const study& of, unsigned workers) {
    const auto to = std::back_inserter(out);
    const std::vector<range_findings> ranges = correlate(of, workers);
    const range_findings& all = ranges.back();
    if (all.correlations.empty()) {
        return;
    }
    fmt::format_to(
        to, "\ncorrelation with execution time, {}: Pearson/Spearman of all runs\n  {:<26}{:>7}",
        count_of_workers(workers), "range of task duration", "grains");
    for (const correlation& one : all.correlations) {
        fmt::format_to(to, "{:>13}", info_of(one.which).name);
    }
    out += '\n';
    for (const range_findings& range : ranges) {
        const std::string name =
            range.range ? fmt::format("{}, {}", name_of(*range.range), limits_of(*range.range))
                        : "all";
        fmt::format_to(to, "  {:<26}{:>7}", name, range.grains);
        for (const correlation& one : range.correlations) {
            fmt::format_to(to, "{:>13}", shown_pair(one));
        }
        out += range.correlations.empty() ? "  too few grains\n" : "\n";
    }
}

}  // namespace

double in_unit(double value, quantity as) {
    constexpr double k_factors[] = {1, 1e6, 100, 1};
    return value * k_factors[static_cast<unsigned>(as)];
}

std::string shown_bare(double value, quantity as) {
    if (!std::isfinite(value)) {
        return "-";
    }
    constexpr int k_digits[] = {3, 2, 1, 0};
    const double in_its_unit = in_unit(value, as);
    int digits = k_digits[static_cast<unsigned>(as)];
    if (as == quantity::seconds && std::abs(in_its_unit) < 1) {
        ++digits;
    } else if (as == quantity::microseconds && std::abs(in_its_unit) >= 1000) {
        digits = 0;
    }
    return fmt::format("{:.{}f}", in_its_unit, digits);
}

std::string shown(double value, quantity as) {
    constexpr const char* k_units[] = {" s", " µs", " %", ""};
    const std::string text = shown_bare(value, as);
    return text == "-" ? text : text + k_units[static_cast<unsigned>(as)];
}

std::string count_of_workers(unsigned workers) {
    return fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string grain_as_text(const study& of) {
    std::string out =
        fmt::format("{}\n{}; medians of {} run{}{}; execution time: {}\n", of.command, of.machine,
                    of.repetitions, of.repetitions == 1 ? "" : "s",
                    of.is_complete ? "" : ", not all of which were made", of.time_from);
    if (!of.missing.empty()) {
        out += "without a value:";
        for (const std::string& name : of.missing) {
            out += " " + name;
        }
        out += '\n';
    }
    for (const unsigned workers : of.workers) {
        if (!of.of(workers).empty()) {
            add_table(out, of, workers);
        }
    }
    for (const unsigned workers : of.workers) {
        if (!of.of(workers).empty()) {
            add_choices(out, of, workers);
            add_correlations(out, of, workers);
        }
    }
    return out;
}

std::string grain_as_csv(const study& of) {
    std::string out = "workers," + of.name + ",repetition";
    for (const metric_info& info : metric_table()) {
        out.append(",").append(info.key);
    }
    out += '\n';
    for (const sample& one : of.samples) {
        fmt::format_to(std::back_inserter(out), "{},{},{}", one.workers, one.grain, one.repetition);
        for (const metric_info& info : metric_table()) {
            const double value = in_unit(one.values[info.id], info.shown_as);
            out += std::isfinite(value) ? fmt::format(",{}", value) : ",";
        }
        out += '\n';
    }
    return out;
}

}  // namespace quern::tool
