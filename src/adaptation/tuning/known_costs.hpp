// SPDX-License-Identifier: BSL-1.0
// The costs that a tuner has been told, by point. Private to the layer; the tuner guards them by
// its lock. A tuner lives as long as its program and is told a cost at every entry: of each point
// only the latest costs are kept, and the least median is always at hand, so neither memory nor
// time grows with the number of entries.
#pragma once

#include <quern/adaptation/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace quern::adaptation::detail {

/// The lower one of an even number; +infinity of none. Changes the order of the values.
inline double median(std::span<double> values) {
    if (values.empty()) {
        return std::numeric_limits<double>::infinity();
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Costs of one point: the latest ones, and their median.
class latest_costs {
public:
    static constexpr std::size_t k_kept = 31;  // as many as a median needs to be steady (chosen)

    void add(double cost) {
        if (m_costs.size() < k_kept) {
            m_costs.push_back(cost);
        } else {
            m_costs[m_oldest] = cost;
            m_oldest = (m_oldest + 1) % k_kept;
        }
        std::array<double, k_kept> sorted{};
        std::copy(m_costs.begin(), m_costs.end(), sorted.begin());
        m_median = adaptation::detail::median(std::span(sorted).first(m_costs.size()));
    }

    double median() const noexcept { return m_median; }

private:
    std::vector<double> m_costs{};
    std::size_t m_oldest = 0;
    double m_median = std::numeric_limits<double>::infinity();
};

class known_costs {
public:
    known_costs() = default;
    known_costs(const known_costs&) = delete;
    known_costs& operator=(const known_costs&) = delete;

    void add(const point& at, double cost) {
        const auto found = m_by_values.try_emplace(values_of(at)).first;
        m_by_cost.erase({found->second.median(), &found->first});
        found->second.add(cost);
        m_by_cost.insert({found->second.median(), &found->first});
    }
    void forget() {
        m_by_cost.clear();
        m_by_values.clear();
    }

    /// The median of the latest costs; nothing for a point without a cost.
    std::optional<double> of(const point& at) const {
        const auto found = m_by_values.find(values_of(at));
        return found == m_by_values.end() ? std::nullopt : std::optional(found->second.median());
    }

    struct least_cost {
        const std::vector<double>* values = nullptr;  ///< null: no point has a finite cost
        double cost = std::numeric_limits<double>::infinity();
    };
    least_cost least() const {
        if (m_by_cost.empty() || !std::isfinite(m_by_cost.begin()->cost)) {
            return {};
        }
        return {m_by_cost.begin()->values, m_by_cost.begin()->cost};
    }

private:
    /// Of equal costs the lesser values come first, so that the best does not depend on addresses.
    struct ranked {
        double cost;
        const std::vector<double>* values;
        friend bool operator<(const ranked& a, const ranked& b) noexcept {
            return a.cost != b.cost ? a.cost < b.cost : *a.values < *b.values;
        }
    };

    static std::vector<double> values_of(const point& at) {
        return {at.values().begin(), at.values().end()};
    }

    std::map<std::vector<double>, latest_costs> m_by_values{};
    /// Invariant: one for each point of m_by_values, with its median; refers to its key.
    std::set<ranked> m_by_cost{};
};

}  // namespace quern::adaptation::detail
