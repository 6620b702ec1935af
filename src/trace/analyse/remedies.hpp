// SPDX-License-Identifier: BSL-1.0
// Advice on a loss, with the numbers of the run. Private to the layer.
#pragma once

#include <quern/trace/efficiency.hpp>

#include <string>

namespace quern::trace::detail {

/// For the largest loss: its kind, cause and remedy. If none needs a remedy: the largest loss
/// without advice.
std::string remedy_for(const efficiency& of, const recording& run, const calibration& one_core);

/// Why workers starved, and the remedy.
std::string cause_of_starvation(const efficiency& of, const recording& run);

/// "'fib' (fib.cpp:12)"; long names are shortened.
std::string in_quotes(const site& one);

/// The site with the largest figure, or null if none is above 0.
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

/// Advice on the largest cause of taken time.
std::string against_taken_time(const efficiency& of, const taken_time& taken);

/// Both, unless the remedy contains it.
std::string warning_of_taken_time(const efficiency& of, const taken_time& taken);

/// Whether the numbers of tasks are similar: a site with half or twice as many tasks divides its
/// work differently.
bool comparable(const site& here, const one_core_time& alone);

/// Excess time of all tasks of a site over the same number of tasks alone, or 0.
double longer_than_alone(const site& here, const one_core_time& alone);

/// The sites whose number of tasks differs too much from the calibration to compare times; empty if
/// there are none.
std::string sites_with_other_counts(const recording& run, const calibration& one_core);

}  // namespace quern::trace::detail
