// SPDX-License-Identifier: BSL-1.0
// Counters made of other counters: /arithmetics/… of several at one moment, /statistics{…}/… of one
// over time. This file reads their names; counter_set makes the values.
#pragma once

#include <quern/counters/name.hpp>
#include <quern/counters/source.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

class sample_log;

struct arithmetic {
    std::string_view name;
    bool keeps_unit;  ///< the result has the unit of the operands, where these have one
    double (*apply)(std::span<const double>
                        of);  ///< of at least one number, but where missing ones are skipped
    std::string_view help;
    bool skips_missing = false;  ///< what is unavailable counts for nothing
};

struct arithmetic_request {
    const arithmetic* how = nullptr;
    std::vector<std::string> operands;  ///< names, perhaps with wildcards
};

struct statistic {
    std::string_view name;
    double (*of)(const sample_log& samples);  ///< of at least one
    std::string_view help;
};

struct statistic_request {
    const statistic* how = nullptr;
    std::string base;  ///< a name, perhaps with wildcards
    std::chrono::milliseconds interval{1000};
    std::size_t window = 10;  ///< samples, of what is called rolling
    bool resets = false;      ///< each sample is of the time since the last one
};

/// All there are, in the order of the help.
std::span<const arithmetic> arithmetics() noexcept;
std::span<const statistic> statistics() noexcept;

/// Both throw std::invalid_argument for what is malformed or unknown.
arithmetic_request parse_arithmetic(std::string_view text, const counter_name& name);
statistic_request parse_statistic(std::string_view text, const counter_name& name);

/// What is to be known of the operations that a pattern means, "/statistics" or "/arithmetics/m*"
/// or a counter in full. Throws std::invalid_argument where there is none.
std::vector<counter_info> describe_derived(std::string_view pattern);
std::vector<counter_info> describe_derived();  ///< all

/// Whether it is the name of operations, as describe_derived() takes it.
bool names_derived(std::string_view pattern) noexcept;

/// Throws std::invalid_argument where it, or what it is made of, cannot be.
void check_derived(std::string_view text, const counter_name& name);

}  // namespace quern::counters::detail
