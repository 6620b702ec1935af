// SPDX-License-Identifier: BSL-1.0
// The statistics of each kind of task as a table for a terminal.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace {

/// A line per kind of task, the largest total time first: tasks; mean, minimum, maximum and
/// standard deviation of their times; total and its share; how many tasks waited, were inlined,
/// were stolen; in a profile where any has lost time to other programs, how much. At most 100
/// lines; the rest is summed up. Times are those in task bodies, without tasks that they waited for
/// or ran inlined. If events were requested, a second table has them by kind of task. Decisions of
/// tuners and policies follow in a table of at most 20.
void write_profile(const recording& run, std::ostream& to);

}  // namespace quern::trace
