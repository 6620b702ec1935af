// SPDX-License-Identifier: BSL-1.0
// An axis of a chart: from values to pixels, and which values get a line and a number.
#pragma once

#include <string>
#include <vector>

namespace quern::tool {

/// From values to pixels.
struct axis {
    double low = 1, high = 10;
    double begin = 0, end = 1;  ///< pixels
    bool is_log = true;

    double place(double value) const;
};

/// The values of the grid, with `room` pixels each: 1, 2, 5 times powers of ten, or more or fewer.
std::vector<double> log_ticks(const axis& on, double room);

/// The same for an axis that is not logarithmic.
std::vector<double> linear_ticks(const axis& on, double room);

/// "2k", "1.5M": for the numbers at an axis.
std::string short_number(double value);

}  // namespace quern::tool
