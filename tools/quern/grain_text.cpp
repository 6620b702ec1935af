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

/// Rows of words under heads, each column as wide as it must be.
class text_table {
public:
    explicit text_table(std::vector<std::string> heads) { m_rows.push_back(std::move(heads)); }

    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }

    /// The first `left` columns and the last one, where it has words, stand at the left.
    void print(std::string& out, std::size_t left, bool words_last) const {
        for (const std::vector<std::string>& row : m_rows) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                const bool is_last_word = words_last && i + 1 == m_rows[0].size();
                line += i < left       ? fmt::format("  {:<{}}", row[i], width_of(i))
                        : is_last_word ? "  " + row[i]
                                       : fmt::format("  {:>{}}", row[i], width_of(i));
            }
            out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
    }

private:
    std::size_t width_of(std::size_t column) const {
        std::size_t width = 0;
        for (const std::vector<std::string>& row : m_rows) {
            width = column < row.size() ? std::max(width, characters(row[column])) : width;
        }
        return width;
    }

    /// UTF-8: all bytes but those that continue a character.
    static std::size_t characters(const std::string& text) {
        return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
        }));
    }

    std::vector<std::vector<std::string>> m_rows;
};

void add_table(std::string& out, const study& of, unsigned workers) {
    const std::vector<text_column> columns = known_columns(of, workers);
    std::vector<std::string> heads = {of.name};
    for (const text_column& column : columns) {
        heads.push_back(column.head);
        if (column.which == metric::time) {
            heads.push_back("spread");
        }
    }
    heads.push_back("range");
    text_table table(heads);
    for (const grain_size grain : of.grains) {
        const summary time = of.summary_of(workers, grain, metric::time);
        if (time.count == 0) {
            continue;
        }
        std::vector<std::string> row = {std::to_string(grain)};
        for (const text_column& column : columns) {
            const double median = of.summary_of(workers, grain, column.which).median;
            row.push_back(shown_bare(median, info_of(column.which).shown_as));
            if (column.which == metric::time) {
                row.push_back(shown(time.spread(), quantity::percent));
            }
        }
        const double duration = of.least_disturbed_duration(grain);
        row.push_back(std::isfinite(duration) ? name_of(band_of(duration)) : "?");
        table.add(std::move(row));
    }
    out += "\n" + count_of_workers(workers) + "\n";
    table.print(out, 0, true);
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
    out += fmt::format("\nbest, {}: {} {}, {}", count_of_workers(workers), of.name, best->grain,
                       shown(best->time, quantity::seconds));
    if (!best->equally_good.empty()) {
        out += "; within the spread of that: " + list_of(best->equally_good);
    }
    text_table table({"least", of.name, "time s", "slower"});
    for (const choice& one : best->choices) {
        table.add({info_of(one.which).title, std::to_string(one.grain),
                   shown_bare(one.time, quantity::seconds), shown(one.slower, quantity::percent)});
    }
    out += '\n';
    table.print(out, 1, false);
}

std::string shown_pair(const correlation& one) {
    const auto part = [](const std::optional<double>& r) {
        return r ? fmt::format("{:.2f}", *r) : std::string("-");
    };
    return part(one.pearson) + "/" + part(one.spearman);
}

void add_correlations(std::string& out, const study& of, unsigned workers) {
    const std::vector<range_findings> ranges = correlate(of, workers);
    const range_findings& all = ranges.back();
    if (all.correlations.empty()) {
        return;
    }
    std::vector<std::string> heads = {"task duration", "", "grains"};
    for (const correlation& one : all.correlations) {
        heads.push_back(info_of(one.which).name);
    }
    text_table table(heads);
    for (const range_findings& range : ranges) {
        std::vector<std::string> row = {range.range ? name_of(*range.range) : "all",
                                        range.range ? limits_of(*range.range) : "",
                                        std::to_string(range.grains)};
        for (const correlation& one : range.correlations) {
            row.push_back(shown_pair(one));
        }
        if (range.correlations.empty()) {
            row.push_back("too few");
        }
        table.add(std::move(row));
    }
    out += fmt::format("\ncorrelation with execution time, {}: Pearson/Spearman, of all runs\n",
                       count_of_workers(workers));
    table.print(out, 2, false);
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

std::string noise_as_words(const study& of) {
    constexpr double k_quiet = 0.1;  // guessed: differences between good grains are about as small
    const double noise = of.noise();
    if (!std::isfinite(noise)) {
        return "";
    }
    return fmt::format("runs of the same kind are {} apart, in the median{}",
                       shown(noise, quantity::percent),
                       noise < k_quiet ? ""
                                       : ": the machine is not quiet, and smaller differences mean "
                                         "nothing");
}

std::string count_of_workers(unsigned workers) {
    return fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string grain_as_text(const study& of) {
    std::string out =
        fmt::format("{}\n{}; medians of {} run{}{}; execution time: {}\n", of.command, of.machine,
                    of.repetitions, of.repetitions == 1 ? "" : "s",
                    of.is_complete ? "" : ", not all of which were made", of.time_from);
    const std::string noise = noise_as_words(of);
    out += noise + (noise.empty() ? "" : "\n");
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
