// SPDX-License-Identifier: BSL-1.0
// The longest chain of pieces of tasks one of which made, woke or preceded the next: no number of
// workers could have run the program in less time.
#pragma once

#include <quern/trace/recording.hpp>

namespace quern::trace {

/// In nanoseconds. 0 when slices were dropped or there are too many (more than 4 million). What a
/// task runs itself, forked children among it, is part of its own time, so the chain may be longer
/// than that of a run in which they are stolen.
/// Cost: about 0.5 s and 60 MB for 10^6 slices.
double critical_path(const recording& run);

}  // namespace quern::trace
