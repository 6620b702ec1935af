// SPDX-License-Identifier: BSL-1.0
// An entry takes the next trial of the tuner, or under dry-run the start, and tells what it cost.
#include <quern/adaptation/region.hpp>

#include "tuning/history.hpp"
#include "tuning/meter.hpp"
#include "tuning/search_account.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/sites.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::adaptation {

namespace {

constexpr std::size_t k_most_repeated = 4;  // trials of one search (chosen)
// Looks at losses take a few percent of trials of these lengths, of two workers.
constexpr double k_worth_a_look_s = 0.0002;    // at run queues
constexpr double k_worth_all_looks_s = 0.002;  // at quota and steal too
constexpr double k_worth_saying = 0.005;       // of the time

/// "cost 1.2 ms, 70 % in tasks, 27 % overhead, 3.4 % idle, 40 % of the time lost".
std::string words_of(const std::optional<metric>& by, double cost, const measured& m) {
    constexpr double k_ns = 1e9;
    std::string words = by ? by->name + " " + quern::detail::rounded(cost)
                           : "cost " + quern::detail::duration_words(
                                           cost * k_ns, quern::detail::precision::up_to_four);
    const double all = m.running + m.overhead + m.idle;
    if (all <= 0) {
        return words;
    }
    words += ", " + quern::detail::percent_words(m.running / all) + " in tasks, " +
             quern::detail::percent_words(m.overhead / all) + " overhead, " +
             quern::detail::percent_words(m.idle / all) + " idle";
    return m.lost < k_worth_saying
               ? words
               : words + ", " + quern::detail::percent_words(m.lost) + " of the time lost";
}

/// Those of the tuner: what the region knows goes into them.
tuner_options search_of(const region_options& options) {
    tuner_options search = options.search;
    if (!options.minimise) {  // a metric is no time that could be spent
        search.most_spent = std::min(search.most_spent, options.most_spent);
    }
    search.confirms_drift = options.most_lost > 0 && !options.minimise;
    return search;
}

/// Throws as the constructor of region does.
void check(const std::string& name, const region_options& options) {
    if (name.empty()) {
        throw std::invalid_argument("quern: a tuned region needs a name");
    }
    if (!options.minimise) {
        return;
    }
    const metric& by = *options.minimise;
    if (by.name.empty() || !by.cost) {
        throw std::invalid_argument("quern: region '" + name +
                                    "': a metric needs a name and a function");
    }
    const std::string what = "quern: region '" + name + "' cannot minimise '" + by.name + "': ";
    if (options.how == strategy::model) {
        throw std::invalid_argument(what +
                                    "the strategy model computes with the wall time; accepted: "
                                    "any other strategy");
    }
    if (!counts_sites()) {
        throw std::runtime_error(
            what +
            "the times of the workers are not measured: the library was built without counters");
    }
}

}  // namespace

struct region::state {
    state(std::string called, space where, region_options with)
        : name(std::move(called)),
          options(std::move(with)),
          tuning(std::move(where), options.how, search_of(options)),
          last(tuning.where().start()) {}

    /// Before the first trial: what an earlier run has found.
    void begin(unsigned workers);
    /// The next trial; nothing when the entry only runs.
    std::optional<trial> next(mode may);
    /// What is made least; nothing, which is said once, if the metric fails. Without the lock.
    std::optional<double> cost_of(const detail::meter::reading& reading);
    void tell(const trial& done, const detail::meter::reading& reading, double cost);
    void choose(const point& best, bool was_settled);
    /// To the cost of the first trial, if that says anything.
    std::optional<double> ratio_of(std::optional<double> cost) const;
    std::optional<double> expected_at(const point& where) const;
    void decide(const point& from, const point& to, std::string why, decision made) const;
    /// What of the losses is to be seen in a trial.
    std::optional<trace::detail::lost_time_parts> sees_of(const trial& asked) const;

    std::string name;
    region_options options;
    tuner tuning;
    mutable std::mutex lock{};                 ///< of what follows
    point last;                                ///< where the last entry was
    std::string inputs{};                      ///< shares of the last trial
    std::optional<detail::history_key> key{};  ///< from the first entry on
    bool knew = false;                         ///< something, from an earlier run
    bool is_settled = false;                   ///< the last search has converged, which is logged
    bool has_said = false;                     ///< what a dry run would try
    std::size_t repeated = 0;
    double seconds = 1;  ///< of the last trial
    std::optional<double> first_cost{};
    std::vector<std::pair<point, double>> expected{};  ///< costs, before the first trial there
    bool has_complained = false;                       ///< of the metric
};

void region::state::begin(unsigned workers) {
    const std::string by = options.minimise ? " by " + options.minimise->name : "";
    key = detail::key_of(name + by, tuning.where(), workers);
    if (auto found = detail::recall(*key)) {
        knew = true;
        tuning = tuner(tuning.where(), options.how, search_of(options), *std::move(found));
    }
}

std::optional<trace::detail::lost_time_parts> region::state::sees_of(const trial& asked) const {
    using trace::detail::lost_time_parts;
    const bool decides = asked.is_search || (tuning.converged() && tuning.wants_losses());
    if (!decides || options.most_lost <= 0 || seconds < k_worth_a_look_s) {
        return std::nullopt;
    }
    return seconds < k_worth_all_looks_s ? lost_time_parts::run_queues : lost_time_parts::all;
}

std::optional<trial> region::state::next(mode may) {
    if (may == mode::off || (may == mode::dry_run && has_said)) {
        return std::nullopt;
    }
    trial asked = tuning.ask();
    if (may == mode::dry_run && !(asked.where == tuning.where().start())) {
        tuning.discard(asked);
        has_said = true;
        decide(tuning.where().start(), asked.where, "would be tried",
               {.predicted = ratio_of(asked.expected), .applied = false, .is_trial = true});
        return std::nullopt;
    }
    if (asked.is_search && asked.expected && !expected_at(asked.where)) {
        expected.emplace_back(asked.where, *asked.expected);
    }
    if (asked.is_search && !(asked.where == last)) {
        decide(last, asked.where, "trial " + std::to_string(tuning.trials() + 1),
               {.predicted = ratio_of(asked.expected), .is_trial = true});
    }
    last = asked.where;
    return asked;
}

std::optional<double> region::state::cost_of(const detail::meter::reading& reading) {
    if (!options.minimise) {
        return reading.result.cost;
    }
    std::string problem;
    try {
        const double cost = options.minimise->cost(reading.took);
        if (!std::isnan(cost) && cost != -std::numeric_limits<double>::infinity()) {
            return cost;
        }
        problem = "it gave " + quern::detail::rounded(cost) +
                  "; accepted: numbers, and +infinity for a point that does not work";
    } catch (const std::exception& error) {
        problem = std::string("it threw an exception: ") + error.what();
    } catch (...) {
        problem = "it threw an exception";
    }
    const std::scoped_lock held(lock);
    if (!std::exchange(has_complained, true)) {
        std::fprintf(stderr, "quern: metric '%s' of region '%s': a trial is left out: %s\n",
                     options.minimise->name.c_str(), name.c_str(), problem.c_str());
    }
    return std::nullopt;
}

std::optional<double> region::state::ratio_of(std::optional<double> cost) const {
    const bool has_ratio =
        cost && std::isfinite(*cost) && first_cost && *first_cost > 0 && std::isfinite(*first_cost);
    return has_ratio ? std::optional(*cost / *first_cost) : std::nullopt;
}

std::optional<double> region::state::expected_at(const point& where) const {
    const auto at = std::find_if(expected.begin(), expected.end(),
                                 [&](const auto& each) { return each.first == where; });
    return at != expected.end() ? std::optional(at->second) : std::nullopt;
}

void region::state::tell(const trial& done, const detail::meter::reading& reading, double cost) {
    const std::scoped_lock held(lock);
    seconds = reading.took.seconds;
    measured result = options.minimise ? measured{.cost = cost} : reading.result;
    // The first one counts in any case: the start may be far too dear to try it five times.
    const bool is_disturbed =
        first_cost && options.most_lost > 0 && reading.result.lost > options.most_lost;
    // Of a very short trial no task may have been timed.
    const bool has_parts = options.how != strategy::model || result.running > 0;
    if (done.is_search && repeated < k_most_repeated && (is_disturbed || !has_parts)) {
        ++repeated;
        tuning.discard(done, detail::less_loss(result).cost);
        return;
    }
    if (!has_parts) {
        result = {.cost = result.cost, .running = result.cost, .lost = result.lost};
    }
    if (done.is_search) {
        inputs = words_of(options.minimise, cost, reading.result);
        if (!first_cost) {
            first_cost = detail::less_loss(result).cost;
            if (options.how == strategy::model) {
                expected.emplace_back(done.where, *first_cost);  // a search may end where it began
            }
        }
    }
    tuning.tell(done, result);
    const bool was_settled = std::exchange(is_settled, tuning.converged());
    if (is_settled) {
        choose(tuning.best(), was_settled);
    } else if (was_settled) {
        decide(last, last, tuning.why(), {});
        first_cost.reset();
        expected.clear();
        repeated = 0;
    }
}

/// The search is over, or was so before and a later entry has changed which point is the best.
void region::state::choose(const point& best, bool was_settled) {
    if (was_settled && best == last) {
        return;
    }
    const double cost = tuning.best_cost();
    decide(last, best,
           was_settled ? "the best by now: later entries have changed what is known" : tuning.why(),
           {.predicted = ratio_of(expected_at(best)), .observed = ratio_of(cost)});
    last = best;
    // What was only looked up is there already. A dry run has no key.
    if (key && !was_settled && (tuning.trials() > 1 || !knew)) {
        detail::remember(*key,
                         {{best.values().begin(), best.values().end()}, cost, tuning.confidence()},
                         tuning.trials());
    }
}

void region::state::decide(const point& from, const point& to, std::string why,
                           decision made) const {
    made.policy = name_of(options.how);
    made.subject = name;
    made.unit = options.unit;
    made.inputs = inputs;
    made.why = std::move(why);
    made.before = from.values()[0];
    made.after = to.values()[0];
    const std::span<const parameter> parameters = tuning.where().parameters();
    if (parameters.size() != 1 || !parameters.front().is_number()) {
        made.before_text = from.text();
        made.after_text = to.text();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i].is_number()) {
                made.numbers.push_back({parameters[i].name(), from.values()[i], to.values()[i]});
            }
        }
    }
    log(std::move(made));
}

struct region::entry::state {
    region::state* of = nullptr;
    point where{};
    std::optional<trial> asked{};
    std::optional<detail::meter> measures{};
    double work = 1;
    int exceptions = 0;
    bool is_dropped = false;
};

region::entry::entry(std::unique_ptr<state> made) noexcept : m_state(std::move(made)) {}
region::entry::entry(entry&&) noexcept = default;

region::entry::~entry() {
    if (m_state == nullptr || !m_state->asked) {
        return;
    }
    const state& my = *m_state;
    try {
        const bool is_trial = !my.is_dropped && std::uncaught_exceptions() <= my.exceptions;
        const auto reading = my.measures->read(my.work);
        if (const auto cost = is_trial ? my.of->cost_of(reading) : std::nullopt) {
            my.of->tell(*my.asked, reading, *cost);
        } else {
            const std::scoped_lock held(my.of->lock);
            my.of->tuning.discard(*my.asked);
        }
    } catch (const std::exception& error) {  // no memory; the trial is lost
        std::fprintf(stderr, "quern: a trial of '%s' is lost: %s\n", my.of->name.c_str(),
                     error.what());
    }
}

const point& region::entry::where() const noexcept { return m_state->where; }

void region::entry::work(double units) {
    if (!(units > 0) || !std::isfinite(units)) {
        throw std::invalid_argument("quern: region '" + m_state->of->name +
                                    "': " + quern::detail::rounded(units) +
                                    " units of work; accepted: finite numbers above 0");
    }
    m_state->work = units;
}

void region::entry::discard() noexcept { m_state->is_dropped = true; }

region::region(std::string name, space where, region_options options) {
    check(name, options);
    if (options.how == strategy::model && !counts_sites()) {
        options.how = strategy::hill_climbing;  // without counters a cost has no parts
    }
    m_state = std::make_unique<state>(std::move(name), std::move(where), std::move(options));
}
region::~region() = default;
region::region(region&&) noexcept = default;
region& region::operator=(region&&) noexcept = default;

region::entry region::enter() {
    auto made = std::make_unique<entry::state>();
    made->of = m_state.get();
    made->exceptions = std::uncaught_exceptions();
    const mode may = current_mode();
    const pool_ref pool = current_pool();
    std::optional<trace::detail::lost_time_parts> sees;
    {
        const std::scoped_lock held(m_state->lock);
        if (may == mode::on && !m_state->key) {
            m_state->begin(pool.workers());
        }
        made->asked = m_state->next(may);
        made->where = made->asked ? made->asked->where : m_state->tuning.where().start();
        sees = made->asked ? m_state->sees_of(*made->asked) : std::nullopt;
    }
    if (made->asked) {
        made->measures.emplace(pool, sees);
    }
    return entry(std::move(made));
}

const std::string& region::name() const noexcept { return m_state->name; }
point region::best() const { return m_state->tuning.best(); }
bool region::converged() const { return m_state->tuning.converged(); }
double region::confidence() const { return m_state->tuning.confidence(); }
std::size_t region::trials() const { return m_state->tuning.trials(); }
std::size_t region::repeated() const {
    const std::scoped_lock held(m_state->lock);
    return m_state->repeated;
}
std::string region::why() const { return m_state->tuning.why(); }

}  // namespace quern::adaptation
