// SPDX-License-Identifier: BSL-1.0
// Counters made of other counters: /arithmetics/… of several at one moment, /statistics{…}/… of one
// over time. This file reads their names; counter_set makes the values.
#pragma once

#include <quern/counters/name.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

struct arithmetic {
    std::string_view name;
    bool keeps_unit;  ///< the result has the unit of the operands, where these have one
    double (*apply)(std::span<const double> of);  ///< of at least one number
};

struct arithmetic_request {
    const arithmetic* how = nullptr;
    std::vector<std::string> operands;  ///< names, perhaps with wildcards
};

/// Throws std::invalid_argument for what is malformed or unknown.
arithmetic_request parse_arithmetic(std::string_view text, const counter_name& name);

/// Throws std::invalid_argument where it or one of its operands cannot be.
void check_derived(std::string_view text, const counter_name& name);

}  // namespace quern::counters::detail
