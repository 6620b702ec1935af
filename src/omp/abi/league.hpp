// SPDX-License-Identifier: BSL-1.0
// The teams of a league run one after another on the calling thread.
#pragma once

#include "core/settings.hpp"
#include "core/team.hpp"

#include <atomic>

namespace quern::omp {

/// What omp_set_num_teams(), omp_set_teams_thread_limit() and their variables say; 0: nothing.
struct league_values {
    std::atomic<unsigned> teams{the_settings().teams};
    std::atomic<unsigned> thread_limit{the_settings().teams_thread_limit};
};
league_values& values_of_leagues();

/// How many teams a league has that does not say it.
inline unsigned default_league_size() {
    const unsigned teams = values_of_leagues().teams.load(std::memory_order_relaxed);
    return teams != 0 ? teams : 1;
}

/// The team around all regions, which knows the league.
inline team& root_team() noexcept {
    team* of = this_member().of;
    while (of->creator != nullptr) {
        of = of->creator->of;
    }
    return *of;
}

template <class Body>
void run_league(unsigned teams, Body&& body) {
    team& root = root_team();
    const unsigned size = teams != 0 ? teams : default_league_size();
    for (unsigned i = 0; i < size; ++i) {
        root.league_size = size;
        root.league_number = i;
        body();
    }
    root.league_size = 1;
    root.league_number = 0;
}

}  // namespace quern::omp
