// SPDX-License-Identifier: BSL-1.0
// Two passes from the newest decision to the oldest: first the choices, then trials.
#include "analyse/chosen_decisions.hpp"

#include <algorithm>

namespace quern::trace::detail {

bool is_trial(const decision& made) noexcept { return made.change && made.change->is_trial; }

std::vector<std::reference_wrapper<const decision>> chosen_decisions(const recording& run,
                                                                     std::size_t most) {
    std::vector<std::size_t> chosen;
    for (const bool trials : {false, true}) {
        for (std::size_t i = run.decisions.size(); i != 0 && chosen.size() < most; --i) {
            if (is_trial(run.decisions[i - 1]) == trials) {
                chosen.push_back(i - 1);
            }
        }
    }
    std::sort(chosen.begin(), chosen.end());
    std::vector<std::reference_wrapper<const decision>> all;
    all.reserve(chosen.size());
    for (const std::size_t i : chosen) {
        all.push_back(std::cref(run.decisions[i]));
    }
    return all;
}

std::string change_words(const value_change& change) {
    std::string words = change.before == change.after ? "stays " + change.after
                                                      : change.before + " -> " + change.after;
    if (!change.unit.empty()) {
        words += " " + change.unit;
    }
    return change.applied ? words : words + " (not applied)";
}

}  // namespace quern::trace::detail
