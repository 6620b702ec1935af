// SPDX-License-Identifier: BSL-1.0
// Laying out the table of waits. A line as wide as a name can be ends it, so that none is cut.
#include "profile_waits.hpp"

#include "profile_events.hpp"
#include "wait_words.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_rows = 30;

/// The micro sign is one character and two bytes.
std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string right(const std::string& text, std::size_t columns) {
    return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

std::string left(const std::string& text, std::size_t columns) {
    return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

std::string line(const std::array<std::string, 7>& cells) {
    return left(cells[0], 30) + right(cells[1], 11) + right(cells[2], 11) + right(cells[3], 11) +
           right(cells[4], 11) + "  " + left(cells[5], 40) + "  " + cells[6] + "\n";
}

}  // namespace

void write_waits(const recording& run, std::ostream& to) {
    if (run.waits.empty()) {
        return;
    }
    to << line({"waited for", "waits", "total", "mean", "max", "tasks of", "at"});
    const std::size_t shown = std::min(run.waits.size(), k_most_rows);
    for (std::size_t i = 0; i < shown; ++i) {
        const wait_row& row = run.waits[i];
        const std::string where = row.lines.empty() ? "" : line_words(row.lines.front());
        const bool is_alone = row.lines.size() <= 1;
        to << line({thing_words(row), count_words(row.waits), duration_words(row.total_ns),
                    duration_words(row.mean_ns()), duration_words(row.max_ns),
                    row.site < run.sites.size() ? place_of(run.sites[row.site]) : "",
                    is_alone
                        ? where
                        : where + ", " + percent_words(row.lines.front().total_ns / row.total_ns)});
    }
    if (run.waits.size() > shown) {
        to << "(" << run.waits.size() - shown << " further rows)\n";
    }
}

}  // namespace quern::trace::detail
