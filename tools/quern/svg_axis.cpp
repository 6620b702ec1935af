// SPDX-License-Identifier: BSL-1.0
// The bodies of svg_axis.hpp.
#include "svg_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace quern::tool {

namespace {

/// 1, 2 or 5 times a power of ten, at least `value`.
double round_up(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit * power >= value * (1 - 1e-9)) {
            return digit * power;
        }
    }
    return 10 * power;
}

}  // namespace

double axis::place(double value) const {
    const double share =
        is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin + share * (end - begin);
}

std::vector<double> log_ticks(const axis& on, double room) {
    std::vector<double> ticks;
    for (const std::vector<double>& digits :
         {std::vector<double>{1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}, {1}}) {
        ticks.clear();
        for (double power = std::pow(10.0, std::floor(std::log10(on.low))); power <= on.high;
             power *= 10) {
            for (const double digit : digits) {
                const double value = digit * power;
                if (value >= on.low * (1 - 1e-9) && value <= on.high * (1 + 1e-9)) {
                    ticks.push_back(value);
                }
            }
        }
        const double length = std::abs(on.end - on.begin);
        if (static_cast<double>(ticks.size()) * room <= length) {
            return ticks;
        }
    }
    return ticks;
}

std::vector<double> linear_ticks(const axis& on, double room) {
    const double most = std::max(2.0, std::abs(on.end - on.begin) / room);
    const double step = round_up((on.high - on.low) / most);
    std::vector<double> ticks;
    for (double value = std::ceil(on.low / step) * step; value <= on.high + step * 1e-9;
         value += step) {
        ticks.push_back(std::abs(value) < step * 1e-9 ? 0.0 : value);
    }
    return ticks;
}

std::string short_number(double value) {
    constexpr const char* k_suffixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t power = 0;
    while (std::abs(value) >= 1000 * (1 - 1e-9) && power + 1 < std::size(k_suffixes)) {
        value /= 1000;
        ++power;
    }
    return fmt::format("{:.4g}{}", value, k_suffixes[power]);
}

}  // namespace quern::tool
