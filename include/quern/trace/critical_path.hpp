// SPDX-License-Identifier: BSL-1.0
// The longest chain of pieces of tasks one of which made, woke or preceded the next: no number of
// workers could have run the program in less time.
#pragma once

#include <quern/trace/recording.hpp>

#include <vector>

namespace quern::trace {

/// In nanoseconds.
struct critical_chain {
    double total_ns = 0.0;
    std::vector<double> site_ns{};  ///< the part of each of recording::sites
    /// Of pieces after they had made or woken another task for the last time: how much longer than
    /// usual some of them took to end, because the system had let the other one run first.
    double late_ends_ns = 0.0;
};

/// Of length 0 when slices were dropped or there are too many (more than 4 million). What a
/// task runs itself, forked children among it, is part of its own time, so the chain may be longer
/// than that of a run in which they are stolen.
/// Cost: about 0.5 s and 80 MB for 10^6 slices.
critical_chain critical_chain_of(const recording& run);

/// Its length alone.
inline double critical_path(const recording& run) { return critical_chain_of(run).total_ns; }

/// How many tasks could run at a time on average: the work divided by the critical path. What late
/// ends lengthen the work by is left out, as far as the threads had no processor meanwhile, so that
/// it is 1 for a strict chain on a busy machine too. At least 1; 0 where the path is not known.
double parallelism_of(const recording& run);

}  // namespace quern::trace
