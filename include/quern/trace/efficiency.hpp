// SPDX-License-Identifier: BSL-1.0
// What became of the workers' time, in five parts that a user can act on: work, the runtime's own
// overhead, starvation for want of tasks, tasks that block their worker in the kernel, and the
// inflation of tasks that take longer beside others than alone. Names the largest loss and what to
// do about it, with the numbers of the run.
#pragma once

#include <quern/trace/calibration.hpp>
#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace quern::trace {

enum class loss_kind : std::uint8_t { none, overhead, starvation, blocked, inflation };

/// The parts are nanoseconds of all workers together and add up to total_ns.
struct efficiency {
    std::size_t workers = 0;
    std::uint64_t tasks = 0;
    double total_ns = 0.0;
    double work_ns = 0.0;      ///< in task bodies, without what follows that is known of them
    double overhead_ns = 0.0;  ///< the runtime's own work: making, queueing, switching, settling …
    double making_ns = 0.0;    ///< of the overhead: in the making of tasks
    double starvation_ns = 0.0;  ///< workers searched or slept
    /// In task bodies, while the worker's thread slept in the kernel. Nothing: unknown, and
    /// contained in the work.
    std::optional<double> blocked_ns;
    std::optional<double> inflation_ns;  ///< nothing: unknown, and contained in the work
    /// Of the total: the workers' threads had no processor, for others had it. Inflation is
    /// attributed to it first.
    double taken_ns = 0.0;
    double calibrated = 0.0;  ///< share of task time whose time on one worker is known

    loss_kind largest = loss_kind::none;  ///< none: no loss is worth a remedy
    std::string headline;                 ///< "62 % of the time of 8 workers was work."
    std::string remedy;                   ///< what is lost most, why, and what to do
    std::string warning;  ///< that others took much of the workers' time; mostly empty
    std::string note;     ///< what limits these figures; may be empty

    double share(double part_ns) const noexcept {
        return total_ns > 0.0 ? part_ns / total_ns : 0.0;
    }
};

/// Works it out from the totals of the lanes; the inflation only with a calibration. Any recording
/// is accepted, also one without lanes. Cost: linear in the slices.
///
///     using namespace quern::trace;
///     const auto what = efficiency_of(run, read_calibration(default_calibration_path()));
///     std::fputs(verdict_text(what).c_str(), stderr);
efficiency efficiency_of(const recording& run, const calibration& one_core = {});

/// Headline, the parts with bars, and the remedy: a few lines of at most 90 columns, each with its
/// newline.
std::string verdict_text(const efficiency& of);

}  // namespace quern::trace
