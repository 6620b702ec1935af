// SPDX-License-Identifier: BSL-1.0
// Hands out the points that a search wants and collects their costs, under the tuner's lock. The
// search itself is in tuner_state.cpp.
#include <quern/adaptation/tuner.hpp>

#include "log/totals.hpp"
#include "tuning/tuner_state.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace quern::adaptation {

namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

}  // namespace

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

void tuner::state::check_cost(const trial& of, double cost) const {
    if (std::isnan(cost) || cost == -k_infinity) {
        throw std::invalid_argument("quern: a cost of " + quern::detail::rounded(cost) + " for " +
                                    of.where.text() +
                                    "; accepted: numbers, and +infinity for a point that does not "
                                    "work");
    }
}

void tuner::state::drop(const trial& failed) {
    const auto at = find(failed);
    if (at->is_search && at->generation == generation) {
        --slots[at->slot].outstanding;
    }
    open.erase(at);
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
    std::size_t fewest = my.account.may_search() ? my.options.repetitions : 0;
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
    my.check_cost(done, result.cost);
    if (!(result.lost >= 0 && result.lost < 1 && result.lost_error >= 0)) {
        throw std::invalid_argument("quern: a lost share of " +
                                    quern::detail::rounded(result.lost) + " for " +
                                    done.where.text() + "; accepted: numbers from 0 to below 1");
    }
    if (my.how == strategy::model && std::isfinite(result.cost) && result.running <= 0) {
        throw std::invalid_argument("quern: the strategy model needs the parts of the cost of " +
                                    done.where.text() +
                                    ": the workers' time in tasks, above 0, in the runtime and "
                                    "without work");
    }
    const state::asked was = *at;
    my.open.erase(at);
    const measured judged = detail::less_loss(result);
    if (!was.is_search) {
        return my.tell_entry(was.where, judged.cost, result.lost);
    }
    my.known.add(was.where, judged.cost);
    my.account.add_trial(judged.cost, result.lost, my.best().second);
    ++my.told;
    detail::g_counts.trials.fetch_add(1, std::memory_order_relaxed);
    if (was.generation != my.generation) {
        return;  // the search has ended or started again meanwhile
    }
    my.slots[was.slot].results.push_back(judged);
    --my.slots[was.slot].outstanding;
    my.why = "searching";
    my.next_request();  // may say more
    if (!my.converged && my.told >= my.limit) {
        my.finish("the limit of " + quern::detail::count_words(my.limit, "trial") + " is reached");
    }
}

void tuner::discard(const trial& failed) {
    const std::scoped_lock lock(m_state->lock);
    m_state->drop(failed);
}

void tuner::discard(const trial& failed, double cost) {
    state& my = *m_state;
    const std::scoped_lock lock(my.lock);
    const bool is_search = my.find(failed)->is_search;
    my.check_cost(failed, cost);
    is_search ? my.account.add_discarded(cost, my.best().second) : my.account.add_entry(cost);
    my.drop(failed);
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

double tuner::confidence() const {
    const std::scoped_lock lock(m_state->lock);
    return m_state->converged ? m_state->account.confidence() : 0;
}

bool tuner::wants_losses() const {
    const std::scoped_lock lock(m_state->lock);
    return !m_state->converged || m_state->drift.is_confirming();
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
