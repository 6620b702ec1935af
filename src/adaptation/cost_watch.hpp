// SPDX-License-Identifier: BSL-1.0
// Whether the cost of a point has changed since its search. Private to the layer; the tuner guards
// it by its lock.
#pragma once

#include "known_costs.hpp"

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

    /// A share of the cost; 0: watches nothing.
    explicit cost_watch(double drift) noexcept : m_drift(drift) {}

    /// `known`: what the point costs, as is known with this cost. It counts as the cost that the
    /// point had until there are many costs since the search; from then on the earlier one stays,
    /// since the known one follows a slow change. Returns a change by more than the drift. Nothing
    /// is a ratio to a cost of 0 or below.
    std::optional<change> add(double cost, double known) {
        if (m_drift <= 0 || known <= 0) {
            return std::nullopt;
        }
        if (m_seen < latest_costs::k_kept) {
            m_before = known;
        }
        m_latest[m_seen++ % k_window] = cost;
        if (m_seen < k_window) {
            return std::nullopt;
        }
        std::array<double, k_window> sorted = m_latest;
        const double now = median(sorted);
        const bool has_changed = now > m_before * (1 + m_drift) || now * (1 + m_drift) < m_before;
        return has_changed ? std::optional(change{m_before, now}) : std::nullopt;
    }
    void forget() noexcept { m_seen = 0; }

private:
    static constexpr std::size_t k_window = 5;  // costs of one median (chosen)

    double m_drift;
    double m_before = 0;
    std::array<double, k_window> m_latest{};
    std::size_t m_seen = 0;
};

}  // namespace quern::adaptation::detail
