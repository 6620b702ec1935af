// SPDX-License-Identifier: BSL-1.0
// All costs that a tuner has been told, by point. Private to the layer; the tuner guards them by
// its lock.
#pragma once

#include <quern/adaptation/space.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace quern::adaptation::detail {

/// The lower one of an even number; +infinity of none.
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? std::numeric_limits<double>::infinity()
                          : values[(values.size() - 1) / 2];
}

class known_costs {
public:
    void add(const point& at, double cost) { m_by_values[values_of(at)].push_back(cost); }
    void forget() { m_by_values.clear(); }

    /// The median; nothing for a point without a cost.
    std::optional<double> of(const point& at) const {
        const auto found = m_by_values.find(values_of(at));
        return found == m_by_values.end() ? std::nullopt : std::optional(median(found->second));
    }

    struct least_cost {
        const std::vector<double>* values = nullptr;  ///< null: no point has a finite cost
        double cost = std::numeric_limits<double>::infinity();
    };
    least_cost least() const {
        least_cost found;
        for (const auto& [values, costs] : m_by_values) {
            if (const double cost = median(costs); cost < found.cost) {
                found = {&values, cost};
            }
        }
        return found;
    }

private:
    static std::vector<double> values_of(const point& at) {
        return {at.values().begin(), at.values().end()};
    }

    std::map<std::vector<double>, std::vector<double>> m_by_values{};
};

}  // namespace quern::adaptation::detail
