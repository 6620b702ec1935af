// SPDX-License-Identifier: BSL-1.0
// Counters derived from other counters: /arithmetics/… combines several at one moment,
// /statistics{…}/… one over time. This file parses their names; counter_set computes the values.
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
    bool keeps_unit;  ///< the result has the common unit of the operands
    double (*apply)(std::span<const double> of);  ///< at least one number, unless skips_missing
    std::string_view help;
    bool skips_missing = false;  ///< unavailable operands are ignored
};

struct arithmetic_request {
    const arithmetic* how = nullptr;
    std::vector<std::string> operands;  ///< names, possibly with wildcards
};

struct statistic {
    std::string_view name;
    double (*of)(const sample_log& samples);  ///< at least one sample
    std::string_view help;
};

struct statistic_request {
    const statistic* how = nullptr;
    std::string base;  ///< a name, possibly with wildcards
    std::chrono::milliseconds interval{1000};
    std::size_t window = 10;  ///< samples, for the rolling statistics
    bool resets = false;      ///< each sample covers the time since the last one
};

/// All operations, in the order of the help.
std::span<const arithmetic> arithmetics() noexcept;
std::span<const statistic> statistics() noexcept;

/// Both throw std::invalid_argument for a malformed or unknown name.
arithmetic_request parse_arithmetic(std::string_view text, const counter_name& name);
statistic_request parse_statistic(std::string_view text, const counter_name& name);

/// Descriptions of the operations that match a pattern: "/statistics", "/arithmetics/m*" or a
/// counter in full. Throws std::invalid_argument if none matches.
std::vector<counter_info> describe_derived(std::string_view pattern);
std::vector<counter_info> describe_derived();

/// Whether it names operations, as describe_derived() accepts it.
bool names_derived(std::string_view pattern) noexcept;

/// Throws std::invalid_argument if it, or one of its operands, is invalid.
void check_derived(std::string_view text, const counter_name& name);

}  // namespace quern::counters::detail
