// SPDX-License-Identifier: BSL-1.0
// The rules of throttles. Called once a period by throttling.cpp, and by tests with synthetic
// plants; they know nothing else.
#include "throttling/throttle_rules.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace quern::adaptation::detail {

namespace {

using quern::detail::rounded;

double mean_of(const std::deque<double>& all) noexcept {
    return all.empty()
               ? 0
               : std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

void add_to_window(std::deque<double>& window, double value, std::size_t length) {
    window.push_back(value);
    if (window.size() > length) {
        window.pop_front();
    }
}

std::string workers(unsigned count) { return quern::detail::count_words(count, "worker"); }

}  // namespace

unsigned cap_range::clamp(long cap) const noexcept {
    return static_cast<unsigned>(
        std::clamp(cap, static_cast<long>(least), static_cast<long>(most)));
}

void drift_watch::begin(unsigned cap) {
    m_rest = m_cap == cap ? std::min(2 * m_rest, k_longest_rest) : k_first_rest;
    m_cap = cap;
    m_periods = 0;
    m_changes = 0;
    m_last.clear();
}

/// Of one period: the standard deviation. From neighbouring periods, so that a load that has
/// changed once counts little.
double drift_watch::noise() const noexcept {
    return m_periods > 1 ? std::sqrt(m_changes / (2.0 * (m_periods - 1))) : 0;
}

bool drift_watch::drifts(double metric) {
    if (!m_last.empty()) {
        m_changes += (metric - m_last.back()) * (metric - m_last.back());
    }
    add_to_window(m_last, metric, k_window);
    if (++m_periods == k_window) {
        m_reference = mean_of(m_last);
    }
    const double apart = std::abs(mean_of(m_last) - m_reference);
    const double error = noise() * std::sqrt(2.0 / k_window);  // of the difference of two means
    return m_periods > m_rest && apart > m_limit * std::abs(m_reference) && apart > k_sure * error;
}

hill_climb_rule::hill_climb_rule(const settings& how, unsigned start)
    : m_how(how), m_cap(how.range.clamp(start)), m_best(m_cap), m_drift(how.drift) {
    restart();
}

void hill_climb_rule::restart() {
    m_known.clear();
    m_sum = {};
    m_count = 0;
    m_best = m_cap;
    m_distance = std::max(1U, (m_how.range.most - m_how.range.least + 1) / 4);
    m_goes_down = true;
    m_is_settled = false;
}

bool hill_climb_rule::is_better(const cap_reading& one, const cap_reading& than) const noexcept {
    const bool wants_most = m_how.what == aim::most;
    const double gain = wants_most ? one.metric - than.metric : than.metric - one.metric;
    const double band = m_how.band * std::abs(than.metric);
    if (std::abs(gain) > band) {
        return gain > 0;
    }
    return one.time_per_call > 0 && one.time_per_call < than.time_per_call * (1 - m_how.band);
}

std::optional<unsigned> hill_climb_rule::neighbour() const {
    for (const bool down : {m_goes_down, !m_goes_down}) {
        const long distance = down ? -static_cast<long>(m_distance) : static_cast<long>(m_distance);
        const unsigned cap = m_how.range.clamp(static_cast<long>(m_best) + distance);
        if (!m_known.contains(cap)) {
            return cap;
        }
    }
    return std::nullopt;
}

void hill_climb_rule::measured(const cap_reading& mean) {
    m_known[m_cap] = mean;
    if (m_cap != m_best && is_better(mean, m_known[m_best])) {
        m_goes_down = m_cap < m_best;
        m_best = m_cap;
    }
    std::optional<unsigned> next = neighbour();
    while (!next && m_distance > 1) {
        m_distance /= 2;
        next = neighbour();
    }
    m_is_settled = !next;
    m_cap = next.value_or(m_best);
    if (m_is_settled) {
        m_drift.begin(m_cap);
    }
}

std::string hill_climb_rule::words() const {
    if (m_known.empty()) {
        return "the load has changed: measuring again";
    }
    const std::string best = rounded(m_known.at(m_best).metric) + " with " + workers(m_best);
    return m_is_settled ? "the best is " + best : "a trial; the best so far is " + best;
}

cap_choice hill_climb_rule::next(const cap_reading& period) {
    if (m_is_settled) {
        if (m_drift.drifts(period.metric)) {
            restart();
        }
        return {m_cap, words(), !m_is_settled};
    }
    m_sum.metric += period.metric;
    m_sum.time_per_call += period.time_per_call;
    if (++m_count == m_how.periods) {
        const double count = m_count;
        const cap_reading mean{m_sum.metric / count, m_sum.time_per_call / count};
        m_sum = {};
        m_count = 0;
        measured(mean);
    }
    return {m_cap, words(), !m_is_settled};
}

fewest_rule::fewest_rule(const settings& how, unsigned start)
    : m_how(how),
      m_climb({.range = how.range, .what = hill_climb_rule::aim::most, .band = 0.05}, start),
      m_cap(m_climb.cap()),
      m_drift(how.drift) {}

void fewest_rule::begin_halving(unsigned best) {
    m_phase = phase::halving;
    m_best = best;
    m_low = m_how.range.least;
    m_high = best;
    begin_candidate();
}

void fewest_rule::begin_candidate() {
    m_turn = 0;
    m_sum_of_best = 0;
    m_sum_of_candidate = 0;
    if (m_low < m_high) {
        m_cap = m_best;
        return;
    }
    m_phase = phase::settled;
    m_cap = m_high;
    m_drift.begin(m_cap);
}

/// Of the candidate's throughput to the best cap's.
void fewest_rule::decide(double ratio) {
    const unsigned candidate = (m_low + m_high) / 2;
    if (ratio < 1 - m_how.within) {
        m_low = candidate + 1;
    } else {
        m_high = candidate;
        m_best = ratio > 1 + m_how.within ? candidate : m_best;
    }
    begin_candidate();
}

cap_choice fewest_rule::next(const cap_reading& period) {
    if (m_phase == phase::climbing) {
        const cap_choice climbed = m_climb.next(period);
        m_cap = climbed.cap;
        if (m_climb.is_settled()) {
            begin_halving(m_cap);
        }
        return {m_cap, climbed.why, !is_settled()};
    }
    if (m_phase == phase::settled) {
        if (!m_drift.drifts(period.metric)) {
            return {m_cap, "the fewest workers that reach the best throughput"};
        }
        m_climb = hill_climb_rule(
            {.range = m_how.range, .what = hill_climb_rule::aim::most, .band = 0.05}, m_cap);
        m_phase = phase::climbing;
        return {m_cap, "the throughput has changed: measuring again", true};
    }
    (is_turn_of_best() ? m_sum_of_best : m_sum_of_candidate) += period.metric;
    ++m_turn;
    const unsigned candidate = (m_low + m_high) / 2;
    const double ratio = m_sum_of_best > 0 ? m_sum_of_candidate / m_sum_of_best : 1;
    const bool is_clear = m_turn == 2 && std::abs(ratio - 1) > m_how.clear;
    if (!is_clear && m_turn < 4) {
        m_cap = is_turn_of_best() ? m_best : candidate;
        return {m_cap, "a trial: " + workers(candidate) + " against " + workers(m_best), true};
    }
    decide(ratio);
    return {
        m_cap,
        "with " + workers(candidate) + " " + rounded(100 * ratio, 3) + " % of the best throughput",
        !is_settled()};
}

power_rule::power_rule(const settings& how, unsigned start)
    : m_how(how), m_cap(how.range.clamp(start)) {}

double power_rule::mean() const noexcept { return mean_of(m_last); }

/// A worker more takes what the workers took between the hot cap and this one.
bool power_rule::would_be_too_hot() noexcept {
    if (m_hot_cap <= m_cap) {
        return false;
    }
    const double of_one = (m_hot_watts - mean()) / (m_hot_cap - m_cap);
    if (mean() + of_one <= m_how.high_watts) {
        return false;
    }
    if (++m_too_cold < m_patience) {
        return true;
    }
    m_patience = std::min(2 * m_patience, k_longest_patience);
    m_hot_cap = 0;
    return false;
}

void power_rule::forget_heat_of_another_load() noexcept {
    if (++m_periods == k_steady) {
        m_steady_watts = mean();
    }
    if (m_periods > k_steady && mean() < 0.8 * m_steady_watts) {
        m_hot_cap = 0;
        m_patience = k_first_patience;
    }
}

void power_rule::move_to(unsigned cap) {
    m_periods = cap != m_cap ? 0 : m_periods;
    m_too_cold = 0;
    m_waits = cap != m_cap ? k_window : 0;
    m_cap = cap;
}

cap_choice power_rule::next(double watts) {
    add_to_window(m_last, watts, k_window);
    forget_heat_of_another_load();
    const std::string seen = rounded(watts, 3) + " W, mean " + rounded(mean(), 3) + " W, ";
    if (m_waits > 0) {
        --m_waits;
        return {m_cap, seen + "after a change"};
    }
    if (watts > m_how.high_watts || mean() > m_how.high_watts) {
        m_hot_cap = m_cap;
        m_hot_watts = std::max(watts, mean());
        const unsigned above = m_cap - m_how.range.least;
        move_to(m_how.range.clamp(static_cast<long>(m_cap) - std::max(1U, above / 2)));
        return {m_cap, seen + "above the high cap of " + rounded(m_how.high_watts, 3) + " W"};
    }
    if (watts < m_how.low_watts && mean() < m_how.low_watts && !would_be_too_hot()) {
        move_to(m_how.range.clamp(static_cast<long>(m_cap) + 1));
        return {m_cap, seen + "below the low cap of " + rounded(m_how.low_watts, 3) + " W"};
    }
    return {m_cap, seen + "between the caps"};
}

}  // namespace quern::adaptation::detail
