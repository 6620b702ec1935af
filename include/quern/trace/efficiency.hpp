// SPDX-License-Identifier: BSL-1.0
// Divides the workers' time into parts: work, the runtime's overhead, starvation for lack of tasks,
// tasks that block their worker in the kernel, the inflation of tasks that take longer in parallel
// than alone, and what was lost to other programs. Names the largest loss that the program can do
// something about, and its remedy, with the numbers of the run.
#pragma once

#include <quern/trace/calibration.hpp>
#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace quern::trace {

enum class loss_kind : std::uint8_t { none, overhead, starvation, blocked, inflation };

/// The parts are nanoseconds, summed over all workers, and add up to total_ns.
struct efficiency {
    std::size_t workers = 0;
    std::uint64_t tasks = 0;
    double total_ns = 0.0;
    double work_ns = 0.0;        ///< in task bodies, without the known parts of it below
    double overhead_ns = 0.0;    ///< the runtime: creation, queueing, switching of tasks …
    double making_ns = 0.0;      ///< part of the overhead: task creation
    double starvation_ns = 0.0;  ///< workers searched or slept
    /// In task bodies, while the worker's thread slept in the kernel. None: unknown, and contained
    /// in the work.
    std::optional<double> blocked_ns;
    std::optional<double> inflation_ns;  ///< none: unknown, and contained in the work
    /// Workers were ready and had no processor: other programs had it, or a quota was used up.
    /// Exact, as the kernel counts it. None: unknown, and contained in the work.
    std::optional<double> lost_ns;
    /// What is lost, and what the hypervisor took, which is contained in the other parts. Inflation
    /// is attributed to it first.
    double taken_ns = 0.0;
    double calibrated = 0.0;  ///< share of task time whose time on one worker is known

    loss_kind largest = loss_kind::none;  ///< none: no loss needs a remedy
    std::string headline;                 ///< "62 % of the time of 8 workers was work."
    std::string remedy;                   ///< the largest loss, its cause, and what to do
    std::string warning;                  ///< set if others took much of the workers' time
    std::string note;                     ///< limits of these figures; may be empty

    /// Of the time that the workers had, without what is lost.
    double share_of_own(double part_ns) const noexcept {
        const double own_ns = total_ns - lost_ns.value_or(0.0);
        return own_ns > 0.0 ? part_ns / own_ns : 0.0;
    }
    double share(double part_ns) const noexcept {
        return total_ns > 0.0 ? part_ns / total_ns : 0.0;
    }
};

/// Computed from the totals of the lanes; inflation requires a calibration. Accepts any recording,
/// also one without lanes. Cost: linear in the slices.
///
///     using namespace quern::trace;
///     const auto what = efficiency_of(run, read_calibration(default_calibration_path()));
///     std::fputs(verdict_text(what).c_str(), stderr);
efficiency efficiency_of(const recording& run, const calibration& one_core = {});

/// Headline, the parts with bars, and the remedy: a few lines of at most 90 columns, each with a
/// newline.
std::string verdict_text(const efficiency& of);

}  // namespace quern::trace
