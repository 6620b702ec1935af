// SPDX-License-Identifier: BSL-1.0
// Laying out the table.
#include <quern/trace/profile.hpp>

#include "profile_events.hpp"
#include "profile_waits.hpp"
#include "words.hpp"

#include <quern/trace/critical_path.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace quern::trace {

namespace {

constexpr std::size_t k_most_lines = 100;
constexpr std::size_t k_widest_name = 48;  ///< columns; a longer one is cut
constexpr std::size_t k_time_columns = 10;

/// With its unit.
std::string time_words(double ns) {
    struct unit {
        double size;
        const char* name;
    };
    constexpr std::array<unit, 4> k_units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1.0, "ns"}}};
    const unit* fits = &k_units.back();
    for (const unit& u : k_units) {
        if (ns >= u.size) {
            fits = &u;
            break;
        }
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %s", ns / fits->size, fits->name);
    return text;
}

/// The same in a column; the micro sign is one character and two bytes.
std::string time_column(double ns) {
    const std::string words = time_words(ns);
    const auto wide = static_cast<std::size_t>(
        std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return std::string(k_time_columns - std::min(k_time_columns, wide), ' ') + words;
}

void write_line(std::ostream& to, const std::string& name, const site& s, double all_ns) {
    char text[256];
    std::snprintf(text, sizeof text, "%-48s %10llu %s %s %s %s %s %6.1f %9llu %9llu %9llu\n",
                  name.c_str(), static_cast<unsigned long long>(s.tasks),
                  time_column(s.mean_ns()).c_str(), time_column(s.min_ns).c_str(),
                  time_column(s.max_ns).c_str(), time_column(s.stddev_ns).c_str(),
                  time_column(s.total_ns).c_str(), all_ns > 0 ? 100.0 * s.total_ns / all_ns : 0.0,
                  static_cast<unsigned long long>(s.suspensions),
                  static_cast<unsigned long long>(s.inlined),
                  static_cast<unsigned long long>(s.stolen));
    to << text;
}

/// Of the kinds for which there is no line; only the sums say something.
site sum_of(const std::vector<const site*>& rest) {
    site sum;
    for (const site* const s : rest) {
        sum.min_ns = sum.tasks == 0 ? s->min_ns : std::min(sum.min_ns, s->min_ns);
        sum.tasks += s->tasks;
        sum.total_ns += s->total_ns;
        sum.max_ns = std::max(sum.max_ns, s->max_ns);
        sum.suspensions += s->suspensions;
        sum.inlined += s->inlined;
        sum.stolen += s->stolen;
    }
    return sum;
}

}  // namespace

std::string detail::place_of(const site& s) {
    std::string words = s.name;
    if (!s.location.empty()) {
        words += " (" + s.location + ")";
    }
    if (words.size() > k_widest_name) {
        words = words.substr(0, k_widest_name - 3) + "...";
    }
    return words;
}

namespace {

/// Of a recording with slices: through which sites the critical path runs.
void write_critical_path(const recording& run, std::ostream& to) {
    constexpr std::size_t k_most_sites = 5;
    constexpr double k_least = 0.01;
    if (!(run.critical_path_ns > 0.0)) {
        return;
    }
    std::vector<const site*> order;
    for (const site& s : run.sites) {
        order.push_back(&s);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const site* a, const site* b) { return a->critical_ns > b->critical_ns; });
    order.resize(std::min(order.size(), k_most_sites));
    to << "critical path " << time_words(run.critical_path_ns) << ", average parallelism "
       << detail::short_number(parallelism_of(run));
    const char* between = ": ";
    for (const site* const s : order) {
        const double share = s->critical_ns / run.critical_path_ns;
        if (share >= k_least) {
            to << std::exchange(between, ", ") << detail::percent_words(share) << " "
               << detail::place_of(*s);
        }
    }
    to << "\n";
}

}  // namespace

void write_profile(const recording& run, std::ostream& to) {
    std::vector<const site*> order;
    double all_ns = 0;
    for (const site& s : run.sites) {
        order.push_back(&s);
        all_ns += s.total_ns;
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const site* a, const site* b) { return a->total_ns > b->total_ns; });
    char heading[256];
    std::snprintf(heading, sizeof heading, "%-48s %10s %10s %10s %10s %10s %10s %6s %9s %9s %9s\n",
                  "task", "tasks", "mean", "min", "max", "stddev", "total", "%", "suspended",
                  "inlined", "stolen");
    to << "quern profile of " << run.program << ", " << time_words(double(run.duration_ns)) << ", "
       << run.lanes.size() << (run.lanes.size() == 1 ? " worker\n" : " workers\n") << heading;
    const std::size_t shown = std::min(order.size(), k_most_lines);
    for (std::size_t i = 0; i < shown; ++i) {
        write_line(to, detail::place_of(*order[i]), *order[i], all_ns);
    }
    const std::vector<const site*> rest(order.begin() + static_cast<std::ptrdiff_t>(shown),
                                        order.end());
    if (!rest.empty()) {
        write_line(to, "(" + std::to_string(rest.size()) + " further kinds)", sum_of(rest), all_ns);
    }
    order.resize(shown);
    detail::write_events(run, order, to);
    detail::write_waits(run, to);
    write_critical_path(run, to);
}

}  // namespace quern::trace
