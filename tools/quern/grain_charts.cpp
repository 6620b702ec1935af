// SPDX-License-Identifier: BSL-1.0
// The bodies of grain_charts.hpp.
#include "grain_charts.hpp"

#include "grain_findings.hpp"
#include "grain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace quern::tool {

namespace {

constexpr const char* k_axis_titles[] = {"s", "µs", "%", ""};

chart_series series_of(const study& of, unsigned workers, metric which, std::string name) {
    const quantity as = info_of(which).shown_as;
    chart_series series{std::move(name), {}};
    for (const grain_size grain : of.grains) {
        const summary found = of.summary_of(workers, grain, which);
        if (found.count != 0) {
            series.points.push_back({static_cast<double>(grain), in_unit(found.median, as),
                                     in_unit(found.least, as), in_unit(found.most, as),
                                     fmt::format("{}, {} {}: {} ({} to {})", series.name, of.name,
                                                 grain, shown(found.median, as),
                                                 shown(found.least, as), shown(found.most, as))});
        }
    }
    return series;
}

/// The ranges of granularity along the abscissa; the border between two lies between their grains.
std::vector<chart_region> regions_of(const study& of) {
    std::vector<chart_region> regions;
    double previous = 0;
    for (const grain_size grain : of.grains) {
        const double duration = of.least_disturbed_duration(grain);
        if (!std::isfinite(duration)) {
            continue;
        }
        const char* const name = name_of(band_of(duration));
        const auto x = static_cast<double>(grain);
        if (regions.empty()) {
            regions.push_back({x / 2, x, name});
        } else if (regions.back().name != name) {
            const double border = std::sqrt(previous * x);
            regions.back().to = border;
            regions.push_back({border, x, name});
        }
        regions.back().to = 2 * x;
        previous = x;
    }
    return regions;
}

/// Metrics that choose the same grain share a flag.
std::vector<chart_flag> flags_of(const study& of, unsigned workers) {
    const auto best = find_best(of, workers);
    if (!best) {
        return {};
    }
    constexpr std::pair<metric, const char*> k_shown[] = {{metric::overall, "overall"},
                                                          {metric::idle, "idle-rate"},
                                                          {metric::cumulative, "cumulative"},
                                                          {metric::management, "TM"},
                                                          {metric::management_and_wait, "TM+WT"}};
    std::map<grain_size, std::string> names = {{best->grain, "best"}};
    for (const auto& [which, name] : k_shown) {
        for (const choice& one : best->choices) {
            if (one.which == which) {
                std::string& text = names[one.grain];
                text += (text.empty() ? "" : ", ") + std::string(name);
            }
        }
    }
    std::vector<chart_flag> flags;
    flags.reserve(names.size());
    for (const auto& [grain, name] : names) {
        flags.push_back({static_cast<double>(grain), name});
    }
    return flags;
}

struct drawn {
    metric which;
    const char* name;
};

/// A chart of those metrics that are known.
chart chart_of(const study& of, unsigned workers, const char* title, std::vector<drawn> metrics,
               bool has_log_y) {
    chart made;
    made.title = title;
    made.x_title = of.name;
    made.y_title = k_axis_titles[static_cast<unsigned>(info_of(metrics[0].which).shown_as)];
    made.has_log_y = has_log_y;
    made.regions = regions_of(of);
    for (const drawn& each : metrics) {
        chart_series series = series_of(of, workers, each.which, each.name);
        if (!series.points.empty()) {
            made.series.push_back(std::move(series));
        }
    }
    return made;
}

}  // namespace

chart overview_chart(const study& of) {
    chart made;
    made.title = fmt::format("Execution time; what would have been chosen on {}",
                             count_of_workers(of.workers.back()));
    made.x_title = of.name;
    made.y_title = "s";
    made.has_log_y = true;
    made.width = 1240;
    made.height = 380;
    made.regions = regions_of(of);
    made.flags = flags_of(of, of.workers.back());
    for (const unsigned workers : of.workers) {
        made.series.push_back(series_of(of, workers, metric::time, count_of_workers(workers)));
    }
    return made;
}

std::vector<chart> charts_of(const study& of, unsigned workers) {
    return {chart_of(of, workers, "Execution time and what is lost, per core",
                     {{metric::time, "execution time"},
                      {metric::management_and_wait, "TM + WT"},
                      {metric::management, "task management (TM)"},
                      {metric::wait_per_core, "wait time (WT)"}},
                     false),
            chart_of(of, workers, "Idle-rate and its parts",
                     {{metric::idle, "idle-rate"},
                      {metric::managing, "overhead-rate"},
                      {metric::starvation, "starvation-rate"}},
                     false),
            chart_of(of, workers, "A task",
                     {{metric::duration, "duration"},
                      {metric::overhead, "overhead"},
                      {metric::wait, "wait time, where positive"}},
                     true),
            chart_of(of, workers, "Pending queues",
                     {{metric::pending_accesses, "accesses"}, {metric::pending_misses, "misses"}},
                     true)};
}

}  // namespace quern::tool
