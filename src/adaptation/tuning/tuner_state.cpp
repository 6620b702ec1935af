// SPDX-License-Identifier: BSL-1.0
// How a search proceeds: which points its request needs, when it is over, and when it starts again.
// Knows the results of all points, so that a search that returns to a point does not measure it
// again. Called by tuner.cpp under the tuner's lock.
#include "tuning/tuner_state.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

using detail::coordinates;
using detail::request;
using detail::setup;
using detail::trials_for;

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t k_vain = 10'000;  // steps of a search without a trial, after which it is over

}  // namespace

void tuner::state::begin(coordinates from) {
    setup given{where.parameters(), std::move(from), options.seed + restarts, options.tolerance,
                trials_for(how, options)};
    running.emplace(is_checking ? detail::measure_start(std::move(given))
                                : detail::search_by(how, std::move(given)));
    converged = false;
    account.begin_search();
    running->resume({});
    take_request();
    next_request();
}

std::optional<point> tuner::state::remembered_point() const {
    if (known_before.values.empty()) {
        return std::nullopt;
    }
    try {
        const point at = where.with(known_before.values);
        return where.allows(at) ? std::optional(at) : std::nullopt;
    } catch (const std::invalid_argument&) {
        return std::nullopt;  // the space is another one by now
    }
}

/// The remembered point has been measured.
void tuner::state::end_check() {
    is_checking = false;
    const auto [at, cost] = best();
    const double before = known_before.cost;
    const double apart = options.drift > 0 ? options.drift : tuner_options{}.drift;
    const bool is_same = cost <= before * (1 + apart) && before <= cost * (1 + apart);
    if (is_same && detail::search_account::is_sure(known_before.confidence)) {
        finish("remembered from an earlier run, and it still costs the same",
               known_before.confidence);
    } else if (is_same) {
        begin(where.coordinates_of(at));
        why = "remembered " + at.text() +
              " was found beside other programs, with a confidence of " +
              quern::detail::percent_words(known_before.confidence) + ": the search begins there";
    } else {
        begin(where.coordinates_of(at));
        why = "remembered " + at.text() + " costs " + quern::detail::rounded(cost) + " and not " +
              quern::detail::rounded(before) + ": the search begins there";
    }
}

/// Makes slots of what the search wants.
void tuner::state::take_request() {
    slots.clear();
    ++generation;
    if (running->ended()) {
        return;
    }
    const request& wanted = running->wanted();
    anew = wanted.anew;
    for (std::size_t i = 0; i < wanted.points.size(); ++i) {
        const coordinates& each = wanted.points[i];
        slot made;
        if (i < wanted.expected.size()) {
            made.expected = wanted.expected[i];
        }
        const bool is_inside =
            std::all_of(each.begin(), each.end(), [](double f) { return f >= 0 && f <= 1; });
        if (is_inside) {
            made.where = where.at(each);
        }
        if (!is_inside || !where.allows(made.where)) {
            made.results = {{.cost = k_infinity}};
            made.is_known = true;
        } else if (const auto cost = known.of(made.where); !anew && cost) {
            made.results = {{.cost = *cost}};
            made.is_known = true;
        }
        slots.push_back(std::move(made));
    }
}

bool tuner::state::is_complete() const {
    return std::all_of(slots.begin(), slots.end(), [&](const slot& each) {
        return each.is_known || each.results.size() >= options.repetitions;
    });
}

/// Resumes the search while it needs no trial.
void tuner::state::next_request() {
    for (std::size_t vain = 0; !converged && is_complete(); ++vain) {
        if (running->ended() && is_checking) {
            end_check();
        } else if (running->ended()) {
            if (running->end().best) {
                chosen = where.at(*running->end().best);
            }
            finish(running->end().why);
        } else if (vain == k_vain) {
            finish("the search finds no new points");
        } else {
            std::vector<measured> results;
            for (const slot& each : slots) {
                results.push_back(result_of(each));
            }
            running->resume(std::move(results));
            take_request();
        }
    }
}

/// `confidence`: of a result that is not of this search.
void tuner::state::finish(std::string reason, std::optional<double> confidence) {
    converged = true;
    account.end_search(confidence);
    why = std::move(reason);
    if (earlier && !account.is_surer_than(earlier->confidence)) {
        chosen = earlier->at;
        account.end_search(earlier->confidence);
        why = "what was found before stays, since this search was no surer: " + why;
    }
    earlier.reset();
    if (!account.is_sure()) {
        why += "; not sure: the workers got " + quern::detail::percent_words(account.confidence()) +
               " of their time in its trials, so it is tried again later";
    }
    drift.forget();
    slots.clear();
    ++generation;
}

/// The median by cost, whole, so that its parts belong together.
measured tuner::state::result_of(const slot& of) const {
    std::vector<measured> sorted = of.results;
    std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.cost < b.cost; });
    return sorted[(sorted.size() - 1) / 2];
}

std::pair<point, double> tuner::state::best() const {
    if (chosen) {
        return {*chosen, known.of(*chosen).value_or(k_infinity)};
    }
    const auto [values, cost] = known.least();
    return {values == nullptr ? first : where.with(*values), cost};
}

/// A trial that is no part of a search. After a search it shows whether the best point still costs
/// what it did, and whether it is time to try a result again that is not sure.
void tuner::state::tell_entry(const point& at, double cost, double lost) {
    account.add_entry(cost);
    if (!options.confirms_drift || drift.is_confirming()) {
        known.add(at, cost);  // else what it lost is not known
    }
    if (!converged) {
        return;
    }
    const auto [chosen_at, known_cost] = best();
    if (const auto change = drift.add(cost, known_cost, lost)) {
        start_again(chosen_at, change->to,
                    "the cost of " + chosen_at.text() + " has changed from " +
                        quern::detail::rounded(change->from) + " to " +
                        quern::detail::rounded(change->to) + ": the search starts again");
    } else if (account.is_time_to_try_again()) {
        earlier = {chosen_at, account.confidence()};
        start_again(chosen_at, std::nullopt,
                    chosen_at.text() + " was found beside other programs: the search starts again");
    }
}

/// With its present cost, if that is known, the point stays the best until the search knows a
/// better one; else until there is a result.
void tuner::state::start_again(const point& at, std::optional<double> cost, std::string reason) {
    ++restarts;
    limit = told + trials_for(how, options);
    known.forget();
    first = at;
    if (cost) {
        known.add(at, *cost);
    }
    chosen.reset();
    begin(where.coordinates_of(at));
    why = std::move(reason);
}

}  // namespace quern::adaptation
