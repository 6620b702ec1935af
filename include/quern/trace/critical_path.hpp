// SPDX-License-Identifier: BSL-1.0
// The critical path: the longest chain of task pieces in which each created, woke or preceded the
// next. No number of workers could have run the program in less time.
#pragma once

#include <quern/trace/recording.hpp>

#include <vector>

namespace quern::trace {

/// In nanoseconds.
struct critical_chain {
    double total_ns = 0.0;
    std::vector<double> site_ns{};  ///< the part of each of recording::sites
    /// Excess duration of pieces after their last creation or wake-up of a task: the system had
    /// preempted them in favour of the other task.
    double late_ends_ns = 0.0;
};

/// Length 0 if slices were dropped or there are more than 4 million. Tasks that a task runs itself,
/// including forked children, are part of its own time, so the chain may be longer than in a run in
/// which they are stolen. Cost: about 0.5 s and 80 MB for 10^6 slices.
critical_chain critical_chain_of(const recording& run);

/// Only the length.
inline double critical_path(const recording& run) { return critical_chain_of(run).total_ns; }

/// The average number of tasks that could run at the same time: the work divided by the critical
/// path. Work added by late ends is left out, as far as the threads had no processor meanwhile, so
/// the result is 1 for a strict chain on a busy machine too. At least 1; 0 if the path is not
/// known.
double parallelism_of(const recording& run);

}  // namespace quern::trace
