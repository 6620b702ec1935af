// SPDX-License-Identifier: BSL-1.0
// Whether the cost of a point has changed since its search. Private to the layer; the tuner guards
// it by its lock.
#pragma once

#include "known_costs.hpp"

#include <cstddef>
#include <deque>
#include <optional>

namespace quern::adaptation::detail {

/// Compares the last costs of the best point with the cost that it had.
class drift_watch {
public:
    /// A share of the cost; 0: watches nothing.
    explicit drift_watch(double drift) noexcept : m_drift(drift) {}

    /// Returns the present cost if it is above or below `before` by more than the drift. Nothing is
    /// a ratio to a cost of 0 or below.
    std::optional<double> add(double cost, double before) {
        if (m_drift <= 0 || before <= 0) {
            return std::nullopt;
        }
        m_lately.push_back(cost);
        if (m_lately.size() < k_window) {
            return std::nullopt;
        }
        const double now = median({m_lately.begin(), m_lately.end()});
        m_lately.pop_front();
        const bool has_changed = now > before * (1 + m_drift) || now * (1 + m_drift) < before;
        return has_changed ? std::optional(now) : std::nullopt;
    }
    void forget() { m_lately.clear(); }

private:
    static constexpr std::size_t k_window = 5;  // costs of one median (chosen)

    double m_drift;
    std::deque<double> m_lately{};
};

}  // namespace quern::adaptation::detail
