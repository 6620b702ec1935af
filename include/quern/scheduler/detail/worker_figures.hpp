// SPDX-License-Identifier: BSL-1.0
// The table of what a worker counts: a row for each field of worker_totals. Sums, answers to
// `quern top` and metrics are made from it, so that a new field needs a row here and no more.
#pragma once

#include <quern/scheduler/worker_stats.hpp>

#include <cstdint>
#include <iterator>
#include <string_view>

namespace quern::detail {

struct worker_figure {
    std::string_view name;  ///< in nanoseconds it ends in "_ns"
    std::string_view help;
    double worker_totals::*time = nullptr;
    std::uint64_t worker_totals::*count = nullptr;  ///< one of the two

    constexpr worker_figure(std::string_view called, std::string_view means,
                            double worker_totals::*field)
        : name(called), help(means), time(field) {}
    constexpr worker_figure(std::string_view called, std::string_view means,
                            std::uint64_t worker_totals::*field)
        : name(called), help(means), count(field) {}

    /// Calls f(a's field, b's field).
    template <class A, class B, class F>
    void with(A& a, B& b, F&& f) const {
        time != nullptr ? f(a.*time, b.*time) : f(a.*count, b.*count);
    }
};

inline constexpr worker_figure k_worker_figures[] = {
    {"running_ns", "time in task bodies", &worker_totals::running_ns},
    {"managing_ns", "time of the scheduler itself", &worker_totals::managing_ns},
    {"making_ns", "part of that in which tasks were made", &worker_totals::making_ns},
    {"idle_ns", "time without work", &worker_totals::idle_ns},
    {"asleep_ns", "part of that in which the thread slept", &worker_totals::asleep_ns},
    {"throttled_ns", "time in which the knob active-workers kept it from work",
     &worker_totals::throttled_ns},
    {"guest_ns", "time in which a thread from outside had the worker's place",
     &worker_totals::guest_ns},
    {"tasks", "tasks run to their end", &worker_totals::tasks},
    {"inlined", "tasks run in the place of one that waited for them", &worker_totals::inlined},
    {"activations", "times a task was started or resumed", &worker_totals::activations},
    {"suspensions", "times a task gave up its worker", &worker_totals::suspensions},
    {"stolen", "items taken from another worker", &worker_totals::stolen},
    {"parks", "times the worker went to sleep", &worker_totals::parks},
    {"wakes", "sleeping workers that this one woke", &worker_totals::wakes},
    {"contexts_recycled", "stacks used again", &worker_totals::contexts_recycled},
    {"contexts_made", "stacks taken from the system", &worker_totals::contexts_made},
    {"looks", "times the worker looked into its queues", &worker_totals::looks},
    {"misses", "times it found nothing there", &worker_totals::misses},
    {"waits", "queued items that were timed, one in 67", &worker_totals::waits},
    {"waited_ns", "time that these were ready before they ran", &worker_totals::waited_ns},
    {"first_waits", "timed items that were tasks not yet begun", &worker_totals::first_waits},
    {"first_waited_ns", "time that these were ready before they ran",
     &worker_totals::first_waited_ns},
    {"loops", "parallel loops and algorithms that began", &worker_totals::loops},
    {"chunks", "pieces of loops that were run", &worker_totals::chunks},
    {"scopes", "scopes that began", &worker_totals::scopes},
    {"stolen_forks", "tasks that were forked children of other workers",
     &worker_totals::stolen_forks},
};

static_assert(std::size(k_worker_figures) * sizeof(double) == sizeof(worker_totals),
              "each field of worker_totals has a row");

}  // namespace quern::detail
