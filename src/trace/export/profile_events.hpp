// SPDX-License-Identifier: BSL-1.0
// Events by kind of task in a profile. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// Name and place, at most as wide as the first column of a profile.
std::string place_of(const site& s);

/// Instructions per cycle; std::nullopt unless both were counted.
std::optional<double> instructions_per_cycle(const recording& run, const site& s);

/// A table with a line per site, and a note on unavailable and scaled events. Writes nothing if no
/// event was requested.
void write_events(const recording& run, const std::vector<const site*>& sites, std::ostream& to);

}  // namespace quern::trace::detail
