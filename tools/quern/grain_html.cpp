// SPDX-License-Identifier: BSL-1.0
// A study as one HTML page that needs nothing else: no network, no script, no font. What a chart
// shows stands in a table too.
#include "grain_charts.hpp"
#include "grain_findings.hpp"
#include "grain_report.hpp"
#include "page_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace quern::tool {

namespace {

constexpr const char* k_how_to_read =
    "Grains of the same range cost about the same to manage; within one, a metric with a "
    "correlation "
    "near 1 goes along with execution time, and the grain where it is least is a good one. "
    "TM: what the workers spend on managing tasks, per worker. WT: what tasks take longer than "
    "on one worker, for caches and memory that they share with others; times their number, per "
    "worker. Idle-rate holds managing and having nothing to do alike. After P. A. Grubel, Dynamic "
    "Adaptation in HPX, 2016, chapters 5 and 7; ranges by the duration of a task on one worker, as "
    "in "
    "her table 7, very coarse as in her table 2.";

std::string scroll(std::string_view label, std::string_view inner) {
    return fmt::format(R"(<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>)",
                       escaped(label), inner);
}

std::string figure(const chart& of) {
    const std::string svg = as_svg(of);
    return svg.empty() ? ""
                       : fmt::format("<figure><figcaption>{}</figcaption>{}</figure>",
                                     escaped(of.title), scroll(of.title, svg));
}

std::string choices_table(const study& of, const best_grain& best) {
    std::string rows = fmt::format(
        R"(<tr class="best"><th>execution time</th><td>{}</td><td>{}</td><td></td></tr>)",
        best.grain, shown(best.time, quantity::seconds));
    for (const choice& one : best.choices) {
        fmt::format_to(std::back_inserter(rows),
                       R"(<tr><th>{}</th><td>{}</td><td>{}</td><td class="{}">{:+.1f} %</td></tr>)",
                       escaped(info_of(one.which).title), one.grain,
                       shown(one.time, quantity::seconds), one.slower < 0.05 ? "good" : "bad",
                       100 * one.slower);
    }
    return fmt::format(
        R"(<table><thead><tr><th class="words">where this is least</th><th>{}</th><th>time</th>)"
        R"(<th>slower than the best</th></tr></thead><tbody>{}</tbody></table>)",
        escaped(of.name), rows);
}

/// The answer in a sentence.
std::string answer(const study& of, unsigned workers, const best_grain& best) {
    std::string text = fmt::format("<p>Best: {} <strong>{}</strong>, {}", escaped(of.name),
                                   best.grain, shown(best.time, quantity::seconds));
    const double duration = of.summary_of(workers, best.grain, metric::duration).median;
    if (std::isfinite(duration)) {
        text += fmt::format(", tasks of {}", shown(duration, quantity::microseconds));
    }
    text += '.';
    for (std::size_t i = 0; i < best.equally_good.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? " Within the spread of its runs: " : ", ",
                            best.equally_good[i]);
    }
    return text + (best.equally_good.empty() ? "</p>" : ".</p>");
}

std::string correlation_cell(const std::optional<double>& r) {
    return r ? fmt::format("{:.3f}", *r) : std::string("–");
}

std::string correlation_row(const range_findings& range, std::size_t columns) {
    std::string row = "<tr><th>";
    row += range.range ? fmt::format("{} <span class=\"soft\">{}</span>", name_of(*range.range),
                                     limits_of(*range.range))
                       : "all";
    row += fmt::format("</th><td>{}</td><td>{}</td>", range.grains, range.samples);
    for (const correlation& one : range.correlations) {
        row += fmt::format(R"(<td>{} <span class="soft">{}</span></td>)",
                           correlation_cell(one.pearson), correlation_cell(one.spearman));
    }
    if (range.correlations.empty()) {
        row += fmt::format(R"(<td colspan="{}" class="words soft">fewer than three grains</td>)",
                           columns);
    }
    return row + "</tr>";
}

std::string correlations(const study& of, unsigned workers) {
    const std::vector<range_findings> ranges = correlate(of, workers);
    const range_findings& all = ranges.back();
    if (all.correlations.empty()) {
        return R"(<p class="soft">Fewer than three grains: no correlations.</p>)";
    }
    std::string head = "<th class=\"words\">task duration</th><th>grains</th><th>runs</th>";
    for (const correlation& one : all.correlations) {
        head += fmt::format("<th title=\"{}\">{}</th>", escaped(info_of(one.which).title),
                            escaped(info_of(one.which).name));
    }
    std::string body;
    for (const range_findings& range : ranges) {
        body += correlation_row(range, all.correlations.size());
    }
    return "<h3>Correlation with execution time: Pearson <span "
           "class=\"soft\">Spearman</span></h3>" +
           scroll("Correlations",
                  fmt::format("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", head,
                              body));
}

std::string median_row(const study& of, unsigned workers, grain_size grain,
                       const std::vector<metric>& columns, bool is_best) {
    std::string row = fmt::format("<tr{}><th>{}</th>", is_best ? R"( class="best")" : "", grain);
    for (const metric which : columns) {
        row += fmt::format("<td>{}</td>", shown_bare(of.summary_of(workers, grain, which).median,
                                                     info_of(which).shown_as));
    }
    const double spread = of.summary_of(workers, grain, metric::time).spread();
    const double duration = of.least_disturbed_duration(grain);
    return row + fmt::format("<td>{}</td><td class=\"words\">{}</td></tr>",
                             shown_bare(spread, quantity::percent),
                             std::isfinite(duration) ? name_of(band_of(duration)) : "");
}

std::string medians(const study& of, unsigned workers, grain_size best) {
    constexpr const char* k_units[] = {"s", "µs", "%", ""};
    std::vector<metric> columns;
    std::string head = fmt::format("<th>{}</th>", escaped(of.name));
    for (const metric_info& info : metric_table()) {
        const auto samples = of.of(workers);
        if (std::any_of(samples.begin(), samples.end(),
                        [&](const sample* s) { return std::isfinite(s->values[info.id]); })) {
            columns.push_back(info.id);
            head += fmt::format("<th>{}<br>{}</th>", escaped(info.title),
                                k_units[static_cast<unsigned>(info.shown_as)]);
        }
    }
    head += "<th>spread of time<br>%</th><th class=\"words\">range</th>";
    std::string body;
    for (const grain_size grain : of.grains) {
        if (of.summary_of(workers, grain, metric::time).count != 0) {
            body += median_row(of, workers, grain, columns, grain == best);
        }
    }
    return fmt::format(
        "<details><summary>All medians</summary>{}</details>",
        scroll("Medians", fmt::format("<table class=\"medians\"><thead><tr>{}</tr></thead><tbody>{}"
                                      "</tbody></table>",
                                      head, body)));
}

std::string section(const study& of, unsigned workers) {
    const auto best = find_best(of, workers);
    if (!best) {
        return "";
    }
    std::string charts;
    for (const chart& each : charts_of(of, workers)) {
        charts += figure(each);
    }
    return fmt::format("<h2>{}</h2>{}{}<div class=\"charts\">{}</div>{}{}",
                       count_of_workers(workers), answer(of, workers, *best),
                       scroll("Choices", choices_table(of, *best)), charts,
                       correlations(of, workers), medians(of, workers, best->grain));
}

std::string head(const study& of) {
    std::string text = fmt::format(
        "<h1>How large should tasks be?</h1><code class=\"command\">{}</code><p>{}; {} of each "
        "grain{}. Points are medians, whiskers go from the least to the most. Execution time: "
        "{}.</p>",
        escaped(of.command), escaped(of.machine),
        of.repetitions == 1 ? "1 run" : fmt::format("{} runs", of.repetitions),
        of.is_complete ? "" : ", <strong>not all of which were made</strong>",
        escaped(of.time_from));
    const std::string noise = noise_as_words(of);
    if (!noise.empty()) {
        text += fmt::format("<p class=\"soft\">In time, {}.</p>", escaped(noise));
    }
    for (std::size_t i = 0; i < of.missing.size(); ++i) {
        text += fmt::format("{}<code>{}</code>{}",
                            i == 0 ? "<p class=\"soft\">Without a value: " : ", ",
                            escaped(of.missing[i]), i + 1 == of.missing.size() ? ".</p>" : "");
    }
    return text;
}

}  // namespace

std::string grain_as_html(const study& of) {
    std::string body = head(of) + figure(overview_chart(of));
    for (auto workers = of.workers.rbegin(); workers != of.workers.rend(); ++workers) {
        body += section(of, *workers);
    }
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title>"
        "<style>\n{}</style></head><body><main>{}<h2>How to read "
        "it</h2><p>{}</p></main></body></html>\n",
        escaped("quern grain: " + of.command), k_page_style, body, k_how_to_read);
}

}  // namespace quern::tool
