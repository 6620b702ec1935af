// SPDX-License-Identifier: BSL-1.0
// What to do about a loss, in words with the numbers of the run. Private to the layer.
#pragma once

#include <quern/trace/efficiency.hpp>

#include <string>

namespace quern::trace::detail {

/// For the largest loss: what it is, why, what to do. For none: what was lost most, without advice.
std::string remedy_for(const efficiency& of, const recording& run, const calibration& one_core);

/// Why there was nothing to do, and what to do about it.
std::string cause_of_starvation(const efficiency& of, const recording& run);

/// "'fib' (fib.cpp:12)"; names can be very long.
std::string quoted(const site& one);

/// The site of which the figure is largest, or null when it is nowhere above 0.
template <class Figure>
const site* largest(const recording& run, Figure figure) {
    const site* most = nullptr;
    for (const site& one : run.sites) {
        if (figure(one) > (most == nullptr ? 0.0 : figure(*most))) {
            most = &one;
        }
    }
    return most;
}

/// "Other threads or programs took 34 % of the workers' time, the hypervisor took 2.0 %."
std::string taken_words(const efficiency& of, const taken_time& taken);

/// What to do about whoever took most.
std::string against_taken_time(const efficiency& of, const taken_time& taken);

/// Both, unless the remedy has said it already.
std::string warning_of_taken_time(const efficiency& of, const taken_time& taken);

/// Whether a task here does about what it did alone: a site that has half or twice the tasks
/// divides its work otherwise.
bool comparable(const site& here, const one_core_time& alone);

/// By how much all tasks of a site took longer than as many of them did alone, or 0.
double longer_than_alone(const site& here, const one_core_time& alone);

/// Which sites made so many more or fewer tasks than when the calibration was made that their times
/// are not compared; empty when there are none.
std::string sites_with_other_counts(const recording& run, const calibration& one_core);

}  // namespace quern::trace::detail
