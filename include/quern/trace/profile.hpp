// SPDX-License-Identifier: BSL-1.0
// The statistics of each kind of task as a table for a screen.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace {

/// A line for each kind of task, the one with the most time first: tasks, mean, least, greatest and
/// standard deviation of their times, the sum, its share of all, and how many tasks waited, were
/// inlined, were stolen. At most 100 lines; the rest is summed up. Times are in the bodies of the
/// tasks, without those that they waited for or ran inlined. Below it the events by kind of task,
/// where some were asked for.
void write_profile(const recording& run, std::ostream& to);

}  // namespace quern::trace
