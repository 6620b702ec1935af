// SPDX-License-Identifier: BSL-1.0
// What a profile says of events by kind of task. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// Name and place, no wider than the first column of a profile.
std::string place_of(const site& s);

/// Instructions in a cycle; nothing where not both were counted.
std::optional<double> instructions_per_cycle(const recording& run, const site& s);

/// A table with a line for each of the sites, and what is unavailable or scaled. Nothing when no
/// event was asked for.
void write_events(const recording& run, const std::vector<const site*>& sites, std::ostream& to);

}  // namespace quern::trace::detail
