// SPDX-License-Identifier: BSL-1.0
// A small scatter plot for a terminal, both axes logarithmic: one column per point, in the given
// order. A first look at a sweep; the CSV file has the details.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace apps {

struct plot_point {
    std::string label;  ///< below the column
    double value;       ///< positive
    bool marked;        ///< drawn as a star
};

/// Requires: not empty.
inline void print_log_plot(const std::string& title, const std::vector<plot_point>& points) {
    constexpr int k_rows = 10;
    constexpr int k_column = 6;  // characters per point
    const auto by_value = [](const auto& a, const auto& b) { return a.value < b.value; };
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_value);
    const double bottom = std::log(low->value);
    const double span = std::max(std::log(high->value) - bottom, 1e-3);  // a flat line has no span

    fmt::print("{}\n", title);
    for (int row = k_rows - 1; row >= 0; --row) {
        fmt::print("{:>9.3g} |", std::exp(bottom + span * row / (k_rows - 1)));
        for (const plot_point& p : points) {
            const double height = (std::log(p.value) - bottom) / span * (k_rows - 1);
            const bool here = static_cast<int>(std::lround(height)) == row;
            fmt::print("{:^{}}", here ? (p.marked ? "*" : "o") : "", k_column);
        }
        fmt::print("\n");
    }
    fmt::print("{:>9} +{:-<{}}\n{:11}", "", "", points.size() * k_column, "");
    for (const plot_point& p : points) {
        fmt::print("{:^{}}", p.label, k_column);
    }
    fmt::print("\n");
}

}  // namespace apps
