// SPDX-License-Identifier: BSL-1.0
// The bodies of statistics.hpp.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace quern::tool {

namespace {

constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t k_fewest_pairs = 3;  // two points are always on a line

using columns = std::pair<std::vector<double>, std::vector<double>>;

columns known_pairs(std::span<const double> x, std::span<const double> y) {
    columns known;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (std::isfinite(x[i]) && std::isfinite(y[i])) {
            known.first.push_back(x[i]);
            known.second.push_back(y[i]);
        }
    }
    return known;
}

/// The distances from the mean.
std::vector<double> centred(std::vector<double> values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const double mean = sum / static_cast<double>(values.size());
    for (double& value : values) {
        value -= mean;
    }
    return values;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

bool varies(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [&](double v) { return v != values[0]; });
}

}  // namespace

summary summarize(std::span<const double> values) {
    std::vector<double> known;
    std::copy_if(values.begin(), values.end(), std::back_inserter(known),
                 [](double v) { return std::isfinite(v); });
    if (known.empty()) {
        return {k_unknown, k_unknown, k_unknown, 0};
    }
    std::sort(known.begin(), known.end());
    const std::size_t half = known.size() / 2;
    const double median = known.size() % 2 != 0 ? known[half] : (known[half - 1] + known[half]) / 2;
    return {median, known.front(), known.back(), known.size()};
}

std::optional<double> pearson(std::span<const double> x, std::span<const double> y) {
    const columns known = known_pairs(x, y);
    if (known.first.size() < k_fewest_pairs || !varies(known.first) || !varies(known.second)) {
        return {};
    }
    const std::vector<double> a = centred(known.first);
    const std::vector<double> b = centred(known.second);
    const double r = product(a, b) / (std::sqrt(product(a, a)) * std::sqrt(product(b, b)));
    return std::isfinite(r) ? std::optional(std::clamp(r, -1.0, 1.0)) : std::nullopt;
}

std::vector<double> ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> result(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) {
            ++end;
        }
        const double shared = static_cast<double>(first + end + 1) / 2;  // ranks first+1 … end
        for (; first < end; ++first) {
            result[order[first]] = shared;
        }
    }
    return result;
}

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
    const columns known = known_pairs(x, y);
    return pearson(ranks(known.first), ranks(known.second));
}

}  // namespace quern::tool
