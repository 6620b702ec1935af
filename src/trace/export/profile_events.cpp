// SPDX-License-Identifier: BSL-1.0
// The table of events below the table of times: for each event the sum and the mean of a task.
#include "export/profile_events.hpp"

#include "analyse/words.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_name_columns = 48;
constexpr double k_whole = 1e4;  ///< from here on digits after the point say nothing

std::string number_words(double value) {
    if (value >= k_whole) {
        return count_words(static_cast<std::uint64_t>(std::llround(value)));
    }
    return rounded(value);
}

std::string column(const std::string& text) {
    constexpr std::size_t k_wide = 15;
    return " " + detail::right(text, k_wide);
}

std::optional<std::size_t> index_of(const recording& run, std::string_view name) {
    for (std::size_t i = 0; i < run.events.size(); ++i) {
        if (run.events[i].name == name && run.events[i].why.empty()) {
            return i;
        }
    }
    return std::nullopt;
}

void write_site(std::ostream& to, const recording& run, const site& s, bool has_ratio) {
    to << detail::left(place_of(s), k_name_columns);
    for (std::size_t i = 0; i < run.events.size(); ++i) {
        if (!run.events[i].why.empty()) {
            continue;
        }
        const bool is_known = i < s.events.size();
        to << column(is_known ? number_words(s.events[i]) : "-")
           << column(is_known && s.tasks != 0
                         ? number_words(s.events[i] / static_cast<double>(s.tasks))
                         : "-");
    }
    if (has_ratio) {
        const auto ratio = instructions_per_cycle(run, s);
        to << column(ratio ? fixed(*ratio, 2) : "-");
    }
    to << "\n";
}

void write_heading(std::ostream& to, const recording& run, bool has_ratio) {
    to << detail::left("task", k_name_columns);
    for (const counted_event& each : run.events) {
        if (each.why.empty()) {
            to << column(each.name + (each.unit.empty() ? "" : "/" + each.unit))
               << column("per task");
        }
    }
    to << (has_ratio ? column("instr/cycle") : "") << "\n";
}

}  // namespace

std::optional<double> instructions_per_cycle(const recording& run, const site& s) {
    const auto instructions = index_of(run, "instructions");
    const auto cycles = index_of(run, "cycles");
    if (!instructions || !cycles || s.events.empty() || s.events[*cycles] <= 0.0) {
        return std::nullopt;
    }
    return s.events[*instructions] / s.events[*cycles];
}

void write_events(const recording& run, const std::vector<const site*>& sites, std::ostream& to) {
    if (run.events.empty()) {
        return;
    }
    to << "events by kind of task\n";
    if (std::any_of(run.events.begin(), run.events.end(),
                    [](const counted_event& each) { return each.why.empty(); })) {
        const bool has_ratio = index_of(run, "instructions") && index_of(run, "cycles");
        write_heading(to, run, has_ratio);
        for (const site* const each : sites) {
            write_site(to, run, *each, has_ratio);
        }
    }
    for (const counted_event& each : run.events) {
        if (!each.why.empty()) {
            to << each.name << ": unavailable (" << each.why << ")\n";
        } else if (each.counted < 1.0) {
            to << each.name << ": counted " << percent_words(each.counted)
               << " of the time and scaled to all of it, an estimate\n";
        }
    }
}

}  // namespace quern::trace::detail
