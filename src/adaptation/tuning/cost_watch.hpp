// SPDX-License-Identifier: BSL-1.0
// Whether the cost of a point has changed since its search. Private to the layer; the tuner guards
// it by its lock.
#pragma once

#include "tuning/known_costs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace quern::adaptation::detail {

/// Compares the last costs of the best point with the cost that it had.
class cost_watch {
public:
    struct change {
        double from;
        double to;
    };

    /// `drift`: a share of the cost; 0: watches nothing. `confirms`: a change counts only if costs
    /// for which the caller has been asked for losses show it too.
    cost_watch(double drift, bool confirms) noexcept : m_drift(drift), m_confirms(confirms) {}

    /// `known`: what the point costs, as is known with this cost. It counts as the cost that the
    /// point had until there are many costs since the search; from then on the earlier one stays,
    /// since the known one follows a slow change. Returns a change by more than the drift. Nothing
    /// is a ratio to a cost of 0 or below. `lost`: the share of it that the workers lost, which the
    /// cost does not contain as far as it is certain.
    std::optional<change> add(double cost, double known, double lost = 0) {
        if (m_drift <= 0 || known <= 0) {
            return std::nullopt;
        }
        if (m_seen < latest_costs::k_kept && !m_is_confirming) {
            m_before = known;
        }
        ++m_seen;
        m_latest[m_count++ % k_window] = cost;
        m_lost += m_is_confirming ? lost / k_window : 0;
        if (m_count < k_window || (m_confirms && !m_is_confirming && m_count < m_rest)) {
            return std::nullopt;
        }
        std::array<double, k_window> sorted = m_latest;
        const double now = median(sorted);
        // What is not known of the losses makes a change less certain.
        const double apart = (1 + m_drift) / (1 - std::min(m_lost, k_most_lost));
        const bool has_changed = now > m_before * apart || now * apart < m_before;
        if (!m_confirms) {
            return has_changed ? std::optional(change{m_before, now}) : std::nullopt;
        }
        return confirmed(has_changed, now);
    }

    /// Another point, or another search.
    void forget() noexcept {
        m_seen = 0;
        m_count = 0;
        m_lost = 0;
        m_is_confirming = false;
    }

    /// Whether the next costs should be without what the workers lose.
    bool is_confirming() const noexcept { return m_is_confirming; }

private:
    static constexpr std::size_t k_window = 5;  // costs of one median (chosen)
    static constexpr std::size_t k_longest_rest = 1280;
    static constexpr double k_most_lost = 0.99;

    /// A change is looked at with five further costs. If it is none, because other programs take
    /// part of the machine, it is looked at again after twice as many costs.
    std::optional<change> confirmed(bool has_changed, double now) {
        if (!m_is_confirming) {
            if (has_changed) {
                m_is_confirming = true;
                m_count = 0;
            }
            return std::nullopt;
        }
        m_is_confirming = false;
        m_lost = 0;
        m_count = 0;
        m_rest = std::min(std::max(2 * m_rest, 4 * k_window), k_longest_rest);
        return has_changed ? std::optional(change{m_before, now}) : std::nullopt;
    }

    double m_drift;
    bool m_confirms;
    double m_before = 0;
    std::array<double, k_window> m_latest{};
    std::size_t m_seen = 0;   ///< since the search
    std::size_t m_count = 0;  ///< since the last look
    std::size_t m_rest = 0;   ///< costs before the next look
    double m_lost = 0;        ///< mean of the costs that confirm
    bool m_is_confirming = false;
};

}  // namespace quern::adaptation::detail
