// SPDX-License-Identifier: BSL-1.0
// What a search costs the program, and how far its result can be relied on. Private to the layer;
// the tuner guards it by its lock.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace quern::adaptation::detail {

/// The cost as it would have been without what the workers have surely lost. They were in tasks
/// when they lost it, as far as is known.
inline measured less_loss(measured of) {
    const double lost = of.lost - of.lost_error;
    if (!(lost > 0) || !std::isfinite(of.cost)) {
        return of;
    }
    const double left = 1 - lost;
    const double all = of.running + of.overhead + of.idle;
    of.running = std::max(of.running - lost * all, of.running * left * left);
    of.cost *= left;
    return of;
}

class search_account {
public:
    /// `most_spent`: as tuner_options.
    explicit search_account(double most_spent) noexcept : m_most_spent(most_spent) {}

    void begin_search() noexcept {
        m_trials = 0;
        m_lost = 0;
    }
    /// Of the search, with what its workers lost; `best`: the least cost that is known with it.
    void add_trial(double cost, double lost, double best) noexcept {
        ++m_trials;
        m_lost += lost;
        add_discarded(cost, best);
    }
    /// Of the search, without a result.
    void add_discarded(double cost, double best) noexcept {
        if (std::isfinite(cost) && cost > best) {
            m_spent += cost - best;
        }
        add_entry(cost);
    }
    void add_entry(double cost) noexcept {
        if (std::isfinite(cost) && cost > 0) {
            m_total += cost;
        }
    }

    /// Whether the search may have another trial.
    bool may_search() const noexcept {
        return m_most_spent >= 1 || m_spent <= m_most_spent * m_total;
    }

    /// The search is over: its result is as sure as its trials were, or as is known otherwise.
    void end_search(std::optional<double> known) noexcept {
        const double of_trials = m_trials > 0 ? 1 - m_lost / static_cast<double>(m_trials) : 1;
        m_confidence = known.value_or(of_trials);
        m_since = 0;
    }
    double confidence() const noexcept { return m_confidence; }
    bool is_sure() const noexcept { return is_sure(m_confidence); }
    static bool is_sure(double confidence) noexcept { return confidence >= k_sure; }
    bool is_surer_than(double other) const noexcept {
        return is_sure() || m_confidence > other + k_difference;
    }

    /// An entry after the search. Whether a result that is not sure is now to be tried again: each
    /// time after twice as many entries.
    bool is_time_to_try_again() noexcept {
        if (is_sure() || ++m_since < m_patience) {
            return false;
        }
        m_patience = std::min(2 * m_patience, k_longest_patience);
        return true;
    }

private:
    static constexpr double k_sure = 0.9;                // of the time of the trials (chosen)
    static constexpr double k_difference = 0.1;          // that is worth another result (chosen)
    static constexpr std::size_t k_first_patience = 50;  // entries (chosen)
    static constexpr std::size_t k_longest_patience = 6400;

    double m_most_spent;
    double m_spent = 0;
    double m_total = 0;
    std::size_t m_trials = 0;
    double m_lost = 0;
    double m_confidence = 0;
    std::size_t m_since = 0;
    std::size_t m_patience = k_first_patience;
};

}  // namespace quern::adaptation::detail
