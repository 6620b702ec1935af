// SPDX-License-Identifier: BSL-1.0
// Laying out the table.
#include <quern/trace/profile.hpp>

#include "analyse/communication.hpp"
#include "analyse/sites.hpp"
#include "analyse/wait_words.hpp"
#include "analyse/words.hpp"
#include "export/profile_decisions.hpp"
#include "export/profile_events.hpp"

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
constexpr std::size_t k_most_waits = 30;

std::string time_words(double ns) {
    return detail::duration_words(ns, detail::precision::up_to_four);
}

std::string time_column(double ns) { return detail::right(time_words(ns), k_time_columns); }

/// The end of a line: what the tasks lost to other programs, in a profile where any has lost some.
std::string loss_column(bool is_shown, const std::string& words) {
    return is_shown ? " " + detail::right(words, k_time_columns) : "";
}

void write_line(std::ostream& to, const std::string& name, const site& s, double all_ns,
                bool tells_losses) {
    char text[256];
    std::snprintf(text, sizeof text, " %10llu %s %s %s %s %s %6.1f %9llu %9llu %9llu",
                  static_cast<unsigned long long>(s.tasks), time_column(s.mean_ns()).c_str(),
                  time_column(s.min_ns).c_str(), time_column(s.max_ns).c_str(),
                  time_column(s.stddev_ns).c_str(), time_column(s.total_ns).c_str(),
                  all_ns > 0 ? 100.0 * s.total_ns / all_ns : 0.0,
                  static_cast<unsigned long long>(s.suspensions),
                  static_cast<unsigned long long>(s.inlined),
                  static_cast<unsigned long long>(s.stolen));
    to << detail::left(name, k_widest_name) << text
       << loss_column(tells_losses, time_words(s.lost_ns)) << "\n";
}

}  // namespace

std::string detail::place_of(const site& s) {
    std::string words = one_line(s.name);
    if (!s.location.empty()) {
        words += " (" + one_line(s.location) + ")";
    }
    if (words.size() > k_widest_name) {
        std::size_t end = k_widest_name - 3;
        while (end > 0 && (words[end] & 0xc0) == 0x80) {
            --end;  // within a character
        }
        words = words.substr(0, end) + "...";
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

/// A line as wide as a name can be ends it, so that none is cut.
std::string wait_line_of(const std::array<std::string, 7>& cells) {
    std::string text = detail::left(cells[0], 30);
    for (std::size_t i = 1; i < 5; ++i) {
        text += detail::right(cells[i], 11);
    }
    return text + "  " + detail::left(cells[5], 40) + "  " + cells[6] + "\n";
}

/// A line for each thing that tasks of a site waited for; nothing where no task has waited.
void write_waits(const recording& run, std::ostream& to) {
    using detail::duration_words;
    if (run.waits.empty()) {
        return;
    }
    to << wait_line_of({"waited for", "waits", "total", "mean", "max", "tasks of", "at"});
    const std::size_t shown = std::min(run.waits.size(), k_most_waits);
    for (std::size_t i = 0; i < shown; ++i) {
        const wait_row& row = run.waits[i];
        std::string where =
            row.lines.empty() ? "" : detail::one_line(detail::line_words(row.lines.front()));
        if (row.lines.size() > 1) {
            where += ", " + detail::percent_words(row.lines.front().total_ns / row.total_ns);
        }
        to << wait_line_of(
            {detail::one_line(detail::thing_words(row)), detail::count_words(row.waits),
             duration_words(row.total_ns), duration_words(row.mean_ns()),
             duration_words(row.max_ns),
             row.site < run.sites.size() ? detail::place_of(run.sites[row.site]) : "", where});
    }
    if (run.waits.size() > shown) {
        to << "(" << run.waits.size() - shown << " further rows)\n";
    }
}

}  // namespace

void write_profile(const recording& run, std::ostream& to) {
    std::vector<const site*> order;
    double all_ns = 0;
    double lost_ns = 0;
    for (const site& s : run.sites) {
        order.push_back(&s);
        all_ns += s.total_ns;
        lost_ns += s.lost_ns;
    }
    const bool tells_losses = lost_ns > 0;
    std::stable_sort(order.begin(), order.end(),
                     [](const site* a, const site* b) { return a->total_ns > b->total_ns; });
    char heading[256];
    std::snprintf(heading, sizeof heading, "%-48s %10s %10s %10s %10s %10s %10s %6s %9s %9s %9s",
                  "task", "tasks", "mean", "min", "max", "stddev", "total", "%", "suspended",
                  "inlined", "stolen");
    to << "quern profile of " << detail::one_line(run.program) << ", "
       << time_words(double(run.duration_ns)) << ", " << run.lanes.size()
       << (run.lanes.size() == 1 ? " worker\n" : " workers\n") << heading
       << loss_column(tells_losses, "lost") << "\n";
    const std::size_t shown = std::min(order.size(), k_most_lines);
    for (std::size_t i = 0; i < shown; ++i) {
        write_line(to, detail::place_of(*order[i]), *order[i], all_ns, tells_losses);
    }
    if (order.size() > shown) {
        site rest;
        for (std::size_t i = shown; i < order.size(); ++i) {
            detail::add(rest, *order[i]);
        }
        write_line(to, "(" + std::to_string(order.size() - shown) + " further kinds)", rest, all_ns,
                   tells_losses);
    }
    order.resize(shown);
    detail::write_events(run, order, to);
    write_waits(run, to);
    if (run.talk) {
        to << detail::communication_words(*run.talk) << "\n";
    }
    write_critical_path(run, to);
    detail::write_decisions(run, to);
}

}  // namespace quern::trace
