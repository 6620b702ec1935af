// SPDX-License-Identifier: BSL-1.0
// Three passes from the newest decision to the oldest: the last of each value, so that a value that
// changes often does not hide the others; further choices; trials.
#include "analyse/chosen_decisions.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

namespace quern::trace::detail {

bool is_trial(const decision& made) noexcept { return made.change && made.change->is_trial; }

std::vector<std::reference_wrapper<const decision>> chosen_decisions(const recording& run,
                                                                     std::size_t most) {
    enum class rank : std::uint8_t { last_of_value, choice, trial };
    std::vector<rank> ranks(run.decisions.size());
    std::set<std::string_view> seen;
    for (std::size_t i = ranks.size(); i-- != 0;) {
        const decision& one = run.decisions[i];
        ranks[i] = is_trial(one)                                           ? rank::trial
                   : one.change && seen.insert(one.change->subject).second ? rank::last_of_value
                                                                           : rank::choice;
    }
    std::vector<std::size_t> chosen;
    for (const rank wanted : {rank::last_of_value, rank::choice, rank::trial}) {
        for (std::size_t i = ranks.size(); i-- != 0 && chosen.size() < most;) {
            if (ranks[i] == wanted) {
                chosen.push_back(i);
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
