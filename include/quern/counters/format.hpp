// SPDX-License-Identifier: BSL-1.0
// Counter values as text: for people, for HPX's scripts, for programs. Has the formats of
// --quern:print-counter-format; used by all code that prints counters.
#pragma once

#include <quern/counters/counter.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quern::counters {

enum class print_format : std::uint8_t {
    text,         ///< aligned, with human-readable units
    csv,          ///< a line per value: name,sequence,time,[s],value,[unit]
    csv_short,    ///< a line per snapshot, the values in the order of the header
    json,         ///< a line per snapshot: an object
    openmetrics,  ///< an OpenMetrics 1.0 exposition
};

/// Parses the setting print-counter-format. Throws std::invalid_argument that lists the accepted
/// words.
print_format parse_print_format(std::string_view word);

/// The line before the first snapshot; empty except for csv_short.
std::string header_of(const snapshot& first, print_format as);

/// Numbers round-trip, except in text and in OpenMetrics, which requires seconds. An unavailable
/// value is null, an empty field, or no sample; text and JSON give the reason. Cost: about 1 us per
/// value.
std::string formatted(const snapshot& what, unsigned sequence, print_format as);

/// One OpenMetrics exposition of several runtimes, distinguished by the label `runtime`.
std::string as_openmetrics(std::span<const snapshot> of_runtimes);

/// The output of list-counters: only names, or with kind, unit and meaning.
std::string listed(std::span<const counter_info> counters, bool full);

}  // namespace quern::counters
