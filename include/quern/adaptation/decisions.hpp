// SPDX-License-Identifier: BSL-1.0
// The log of decisions: whatever adapts in this process says here what it changed and why. Policies
// and tuners call it; trace, report, counters and the setting `decisions` show it. Keeping the log
// must never make a decision.
#pragma once

#include <quern/adaptation/detail/attach.hpp>
#include <quern/trace/recording.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quern::adaptation {

/// What adaptive mechanisms may do in this process: the setting `adapt` of the runtime that was
/// made last; before there is one, of the settings as they are.
enum class mode : std::uint8_t {
    off,      ///< nothing is measured, decided or changed
    dry_run,  ///< decisions are logged and not applied
    on,
};

/// Thread safe; one relaxed load once a runtime has been made.
mode current_mode();

/// One decision. Texts are shown as they are; empty ones and absent numbers are left out.
struct decision {
    std::uint64_t time_ns = 0;  ///< on the clock of trace::event_clock_ns(); 0: set by log()
    std::string policy{};       ///< which code decided: "throttle-by-queue", "model"
    std::string subject{};      ///< what it decided about: a knob, a site, a tuned number
    std::string unit{};         ///< of the values: "workers"
    double before = 0;
    double after = 0;
    std::string
        before_text{};  ///< in place of the numbers, if they are not all: "tile=8, order=rows"
    std::string after_text{};
    std::string inputs{};  ///< what it was computed from: "overhead 12 %, starvation 0.1 %"
    std::string why{};
    std::optional<double> predicted{};  ///< cost after it, as a ratio to the cost before
    std::optional<double> observed{};   ///< the same, measured
    bool applied = true;                ///< false: a dry run, or another owner refused
    bool is_trial = false;              ///< set in order to be measured; the choice follows
    /// The numbers of values in words, for pictures. One number needs none.
    std::vector<trace::changed_number> numbers{};
};

/// Adds a decision to the log, to the recordings that are running (trace::mark) and, with the
/// setting `decisions`, to a stream or file. Thread safe; some µs. Throws std::bad_alloc.
///
///     quern::adaptation::log({.policy = "mine", .subject = "tile", .before = 32, .after = 64,
///                             .why = "tiles of 32 leave half of the cache unused"});
void log(decision what);

/// The last 4096 decisions, the oldest first. Thread safe.
std::vector<decision> decisions();

/// "model: heat.partition 1000 -> 42000 points: overhead is 12 % (…); predicted 0.61". Without the
/// time.
std::string text_of(const decision& what);

/// What this layer has done in this process so far.
struct totals {
    std::uint64_t decisions = 0;  ///< logged; more than the log keeps
    std::uint64_t trials = 0;     ///< points that tuners have measured
    double policy_ns = 0;         ///< in functions of policies
    std::uint64_t dropped = 0;    ///< events that policies were too slow for
};

/// Thread safe; relaxed loads.
totals all_totals() noexcept;

}  // namespace quern::adaptation
