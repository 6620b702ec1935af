// SPDX-License-Identifier: BSL-1.0
// Values of counters as text: for people, for HPX's scripts, for programs. What
// --quern:print-counter-format chooses from; used by whatever shows counters.
#pragma once

#include <quern/counters/counter.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quern::counters {

enum class print_format : std::uint8_t {
    text,         ///< aligned, in units for people
    csv,          ///< a line per value: name,sequence,time,[s],value,[unit]
    csv_short,    ///< a line per snapshot, the values in the order of the header
    json,         ///< a line per snapshot: an object
    openmetrics,  ///< an exposition of OpenMetrics 1.0
};

/// Of the setting print-counter-format. Throws std::invalid_argument with what is accepted.
print_format parse_print_format(std::string_view word);

/// The line that stands before the first snapshot; empty but for csv_short.
std::string header_of(const snapshot& first, print_format as);

/// Numbers are written so that reading them gives the same number, except in text, and in
/// OpenMetrics, which wants seconds. A value that is
/// unavailable is null, an empty field, or no sample; text and JSON say why. About a microsecond a
/// value.
std::string formatted(const snapshot& what, unsigned sequence, print_format as);

/// One exposition of OpenMetrics of several runtimes, which are told apart by the label `runtime`.
std::string as_openmetrics(std::span<const snapshot> of_runtimes);

/// What list-counters shows: names alone, or each with kind, unit and meaning.
std::string listed(std::span<const counter_info> counters, bool full);

}  // namespace quern::counters
