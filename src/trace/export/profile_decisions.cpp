// SPDX-License-Identifier: BSL-1.0
// Laying out the table of decisions. The reason is the last column, since it is the longest.
#include "export/profile_decisions.hpp"

#include "analyse/chosen_decisions.hpp"
#include "analyse/words.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

namespace quern::trace {

namespace {

constexpr std::size_t k_shown_decisions = 20;
constexpr std::size_t k_longest = 10'000;  ///< bytes of a line

/// Two blanks follow a cell that is wider than its column.
std::string padded(const std::string& text, std::size_t columns) {
    return detail::left(text, columns) + "  ";
}

std::string line_of(const std::array<std::string, 7>& cells) {
    std::string text = detail::right(cells[0], 10) + "  " + padded(cells[1], 16) +
                       padded(cells[2], 20) + padded(cells[3], 28) + detail::right(cells[4], 8) +
                       "  " + detail::right(cells[5], 8) + "  " + cells[6];
    text.erase(text.find_last_not_of(' ') + 1);
    return detail::one_line(text, k_longest) + "\n";
}

std::string ratio_words(const std::optional<double>& ratio) {
    return ratio ? detail::rounded(*ratio, 3) : "";
}

std::string line_of(const decision& made) {
    const std::string when = detail::duration_words(static_cast<double>(made.at_ns));
    if (!made.change) {
        return line_of({when, made.who, "", "", "", "", made.what});
    }
    const value_change& change = *made.change;
    return line_of({when, made.who, change.subject, detail::change_words(change),
                    ratio_words(change.predicted), ratio_words(change.observed),
                    change.why + (change.inputs.empty() ? "" : " [" + change.inputs + "]")});
}

}  // namespace

void detail::write_decisions(const recording& run, std::ostream& to) {
    if (run.decisions.empty()) {
        return;
    }
    const auto trials = static_cast<std::size_t>(
        std::count_if(run.decisions.begin(), run.decisions.end(), is_trial));
    const std::size_t choices = run.decisions.size() - trials;
    to << "\ndecisions of tuners and policies, the latest first (expected, observed: cost after it "
          "/ before)\n"
       << line_of({"at", "by", "of", "value", "expected", "observed", "why"});
    const auto shown = chosen_decisions(run, std::min(choices, k_shown_decisions));
    for (std::size_t i = shown.size(); i != 0; --i) {
        to << line_of(shown[i - 1].get());
    }
    std::string more;
    if (choices > shown.size()) {
        more = count_words(choices - shown.size(), "further decision");
    }
    if (trials != 0) {
        more += (more.empty() ? "" : " and ") + count_words(trials, "trial");
    }
    if (!more.empty()) {
        to << "(and " << more << ")\n";
    }
}

}  // namespace quern::trace
