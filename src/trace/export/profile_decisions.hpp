// SPDX-License-Identifier: BSL-1.0
// Decisions of tuners and policies in a profile. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace::detail {

/// A table with a line per decision, the newest first, at most 20: the last of each value and the
/// newest, without trials. Writes nothing if there were no decisions.
void write_decisions(const recording& run, std::ostream& to);

}  // namespace quern::trace::detail
