// SPDX-License-Identifier: BSL-1.0
// Hands out the points that a search wants and collects their costs. Knows the results of all
// points, so that a search that returns to a point does not measure it again.
#include <quern/adaptation/tuner.hpp>

#include "cost_watch.hpp"
#include "known_costs.hpp"
#include "strategies/search.hpp"
#include "strategies/strategies.hpp"
#include "totals.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

using detail::coordinates;
using detail::request;
using detail::search;
using detail::setup;
using detail::trials_for;

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t k_vain = 10'000;  // steps of a search without a trial, after which it is over

}  // namespace

struct tuner::state {
    /// A point of the present request.
    struct slot {
        point where;
        std::vector<measured> results;
        unsigned outstanding = 0;
        bool is_known = false;  ///< needs no trial
        std::optional<double> expected{};
    };
    /// A trial that has not been told.
    struct asked {
        std::uint64_t number;
        std::size_t slot;
        std::uint64_t
            generation;  ///< of the request; a result that comes later counts only as such
        point where;
        bool is_search;
    };

    state(space in, strategy by, tuner_options with, remembered known_then)
        : where(std::move(in)),
          how(by),
          options(with),
          known_before(std::move(known_then)),
          limit(trials_for(by, with)),
          drift(with.drift) {
        detail::check(where, how, options);
        const std::optional<point> known_point = remembered_point();
        is_checking = known_point.has_value();
        first = known_point.value_or(where.start());
        begin(where.coordinates_of(first));
    }

    std::optional<point> remembered_point() const;
    void end_check();
    void begin(coordinates from);
    void take_request();
    void next_request();
    bool is_complete() const;
    void finish(std::string reason);
    measured result_of(const slot& of) const;
    void watch(const point& at, double cost);
    std::pair<point, double> best() const;
    std::vector<asked>::iterator find(const trial& which);

    mutable std::mutex lock{};
    space where;
    strategy how;
    tuner_options options;
    remembered known_before;
    std::size_t limit;
    std::optional<search> running{};
    std::vector<slot> slots{};
    bool anew = false;
    std::uint64_t generation = 0;
    std::vector<asked> open{};  ///< by number
    std::uint64_t next_number = 1;
    detail::known_costs known{};
    point first{};  ///< the best before the first result
    std::optional<point> chosen{};
    bool is_checking = false;  ///< what is remembered
    bool converged = false;
    std::string why = "no trial yet";
    std::size_t told = 0;
    std::size_t restarts = 0;
    detail::cost_watch drift;  ///< of the watched point since convergence
    point watched{};
};

void tuner::state::begin(coordinates from) {
    setup given{where.parameters(), std::move(from), options.seed + restarts, options.tolerance,
                trials_for(how, options)};
    running.emplace(is_checking ? detail::measure_start(std::move(given))
                                : detail::search_by(how, std::move(given)));
    converged = false;
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
    if (cost <= before * (1 + apart) && before <= cost * (1 + apart)) {
        finish("remembered from an earlier run, and it still costs the same");
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

void tuner::state::finish(std::string reason) {
    converged = true;
    why = std::move(reason);
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

/// After the search: starts it again if the best point does not cost what it did. With its present
/// cost that point stays the best until the search knows a better one.
void tuner::state::watch(const point& at, double cost) {
    if (!(watched == at)) {
        watched = at;
        drift.forget();
    }
    const auto change = drift.add(cost, known.of(at).value_or(cost));
    if (!change) {
        return;
    }
    ++restarts;
    limit = told + trials_for(how, options);
    known.forget();
    known.add(at, change->to);
    chosen.reset();
    begin(where.coordinates_of(at));
    why = "the cost of " + at.text() + " has changed from " + quern::detail::rounded(change->from) +
          " to " + quern::detail::rounded(change->to) + ": the search starts again";
}

std::vector<tuner::state::asked>::iterator tuner::state::find(const trial& which) {
    const auto at = std::lower_bound(
        open.begin(), open.end(), which.number,
        [](const asked& each, std::uint64_t number) { return each.number < number; });
    if (at == open.end() || at->number != which.number || !(at->where == which.where)) {
        throw std::invalid_argument("quern: trial " + std::to_string(which.number) + " of " +
                                    which.where.text() +
                                    (which.number == 0 || which.number >= next_number
                                         ? " was not asked; accepted: what ask() has returned"
                                         : " is told already, or is not what was asked"));
    }
    return at;
}

tuner::tuner(space where, strategy how, tuner_options options, remembered known)
    : m_state(std::make_unique<state>(std::move(where), how, options, std::move(known))) {}
tuner::~tuner() = default;
tuner::tuner(tuner&&) noexcept = default;
tuner& tuner::operator=(tuner&&) noexcept = default;

trial tuner::ask() {
    state& my = *m_state;
    const std::scoped_lock lock(my.lock);
    // The point with the fewest trials first: repetitions alternate.
    state::slot* next = nullptr;
    std::size_t fewest = my.options.repetitions;
    for (state::slot& each : my.slots) {
        const std::size_t trials = each.results.size() + each.outstanding;
        if (!each.is_known && trials < fewest) {
            next = &each;
            fewest = trials;
        }
    }
    trial asked{.number = my.next_number++};
    std::size_t slot = 0;
    if (next != nullptr) {
        asked.where = next->where;
        asked.is_search = true;
        asked.expected = next->expected;
        slot = static_cast<std::size_t>(next - my.slots.data());
        ++next->outstanding;
    } else {
        asked.where = my.best().first;
    }
    my.open.push_back({asked.number, slot, my.generation, asked.where, asked.is_search});
    return asked;
}

void tuner::tell(const trial& done, double cost) { tell(done, measured{.cost = cost}); }

void tuner::tell(const trial& done, const measured& result) {
    state& my = *m_state;
    const std::scoped_lock lock(my.lock);
    const auto at = my.find(done);
    if (std::isnan(result.cost) || result.cost == -k_infinity) {
        throw std::invalid_argument("quern: a cost of " + quern::detail::rounded(result.cost) +
                                    " for " + done.where.text() +
                                    "; accepted: numbers, and +infinity for a point that does not "
                                    "work");
    }
    if (my.how == strategy::model && std::isfinite(result.cost) && result.running <= 0) {
        throw std::invalid_argument("quern: the strategy model needs the parts of the cost of " +
                                    done.where.text() +
                                    ": the workers' time in tasks, above 0, in the runtime and "
                                    "without work");
    }
    const state::asked was = *at;
    my.open.erase(at);
    my.known.add(was.where, result.cost);
    if (!was.is_search) {
        if (my.converged) {
            my.watch(was.where, result.cost);
        }
        return;
    }
    ++my.told;
    detail::g_counts.trials.fetch_add(1, std::memory_order_relaxed);
    if (was.generation != my.generation) {
        return;  // the search has ended or started again meanwhile
    }
    my.slots[was.slot].results.push_back(result);
    --my.slots[was.slot].outstanding;
    my.why = "searching";
    my.next_request();  // may say more
    if (!my.converged && my.told >= my.limit) {
        my.finish("the limit of " + quern::detail::count_words(my.limit, "trial") + " is reached");
    }
}

void tuner::discard(const trial& failed) {
    state& my = *m_state;
    const std::scoped_lock lock(my.lock);
    const auto at = my.find(failed);
    if (at->is_search && at->generation == my.generation) {
        --my.slots[at->slot].outstanding;
    }
    my.open.erase(at);
}

point tuner::best() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->best().first;
}

double tuner::best_cost() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->best().second;
}

bool tuner::converged() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->converged;
}

std::size_t tuner::trials() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->told;
}

std::size_t tuner::restarts() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->restarts;
}

std::string tuner::why() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->why;
}

const space& tuner::where() const noexcept { return m_state->where; }

}  // namespace quern::adaptation
