// SPDX-License-Identifier: BSL-1.0
// The advice of the report. Each sentence that says why has the figure that shows it, so that a
// reader can see that it is meant for this run.
#include "analyse/remedies.hpp"

#include "analyse/words.hpp"

#include <algorithm>
#include <cmath>

namespace quern::trace::detail {

namespace {

/// What overhead is held to by the advice on grain: a tenth of a task's time.
constexpr double k_tasks_per_overhead = 10.0;

/// Managing costs less than a microsecond; where it takes a tenth of tasks of this length, their
/// number is not the cause. A guess.
constexpr double k_large_task_ns = 100'000.0;

std::string overhead_remedy(const efficiency& of, const recording& run) {
    const double tasks = static_cast<double>(std::max<std::uint64_t>(of.tasks, 1));
    const double each = of.overhead_ns / tasks;
    const double mean = of.work_ns / tasks;
    std::string text = "The largest loss is overhead: the runtime took " + duration_words(each) +
                       " for each of " + count_words(of.tasks, "task") + " of " +
                       duration_words(mean) + ". ";
    if (of.making_ns > of.overhead_ns / 2) {
        text += percent_words(of.making_ns / of.overhead_ns) + " of that went into making them. ";
    }
    const site* const most =
        largest(run, [](const site& s) { return static_cast<double>(s.tasks); });
    const double wanted = each * k_tasks_per_overhead;
    const double present = most != nullptr ? most->mean_ns() : mean;
    if (present >= std::min(wanted, k_large_task_ns)) {
        return text +
               "The tasks are large enough: look for many waits, or more workers than cores.";
    }
    const std::string which = most == nullptr ? "tasks "
                                              : "those of " + in_quotes(*most) + ", " +
                                                    count_words(most->tasks, "task") +
                                                    " that take " + duration_words(present) + ", ";
    return text + "Make " + which + short_number(std::ceil(wanted / std::max(present, 1.0))) +
           " times larger, " + duration_words(wanted) +
           " or more: a larger chunk, a serial cut-off in a recursion, or inlining.";
}

std::string blocked_remedy(const efficiency& of, const recording& run) {
    std::string text = "The largest loss is blocked workers: tasks slept in the kernel for " +
                       duration_words(of.blocked_ns.value_or(0.0)) +
                       " of the workers' time, and kept their workers meanwhile. ";
    const site* const most = largest(run, [](const site& s) { return s.blocked_ns; });
    if (most != nullptr) {
        text += "Those of " + in_quotes(*most) + " did so for " + duration_words(most->blocked_ns) +
                ". ";
    }
    return text +
           "Wrap input, output and sleeps in a quern::blocking_region; use quern::mutex in the "
           "place "
           "of std::mutex, which suspends the task and not its worker.";
}

std::string starvation_remedy(const efficiency& of, const recording& run) {
    const double busy = of.total_ns > 0.0
                            ? static_cast<double>(of.workers) * (1.0 - of.share(of.starvation_ns))
                            : 0.0;
    return "The largest loss is starvation: on average " +
           short_number(static_cast<double>(of.workers) - busy) + " of " +
           count_words(of.workers, "worker") + " had nothing to do. " +
           cause_of_starvation(of, run);
}

/// Tasks of one kind differ, but seldom by so much, and a system takes a core away for
/// milliseconds. Such tasks explain the loss when they took half of it: they took n * stddev^2 /
/// max at least, which is exact where all others took the mean.
bool was_interrupted(const site& one, double lost_ns) {
    constexpr double k_slice_ns = 2e6;  // a guess: the least that Linux gives the other thread
    constexpr double k_unlike = 100.0;
    const double outliers_ns =
        static_cast<double>(one.tasks) * one.stddev_ns * one.stddev_ns / std::max(one.max_ns, 1.0);
    return one.max_ns > k_slice_ns && one.max_ns > k_unlike * one.mean_ns() &&
           outliers_ns > lost_ns / 2;
}

std::string inflation_remedy(const efficiency& of, const recording& run,
                             const calibration& one_core) {
    const auto lost = [&](const site& s) {
        const one_core_time* const alone = one_core.find(s);
        return alone == nullptr || !comparable(s, *alone) ? 0.0 : longer_than_alone(s, *alone);
    };
    std::string text =
        "The largest loss is inflation: tasks take longer beside others than alone. ";
    const site* const most = largest(run, lost);
    if (most != nullptr) {
        text += "Those of " + in_quotes(*most) + " take " + duration_words(most->mean_ns()) +
                ", and " + duration_words(one_core.find(*most)->mean_ns) + " on one worker. ";
    }
    const double inflation = of.inflation_ns.value_or(0.0);
    // What is lost is no part of the inflation.
    const double by_others =
        std::min(inflation, std::max(of.taken_ns - of.lost_ns.value_or(0.0), 0.0));
    if (by_others > inflation / 2) {
        return text + "Up to " + percent_words(by_others / inflation) +
               " of that is time in which their threads had no processor. " +
               taken_words(of, run.taken) + " " + against_taken_time(of, run.taken);
    }
    if (most != nullptr) {
        if (!run.taken.by_programs_ns && was_interrupted(*most, lost(*most))) {
            return text + "One took " + duration_words(most->max_ns) +
                   ": other threads had its core meanwhile. Use no more workers than there are "
                   "free "
                   "cores, and measure on a quiet machine.";
        }
    }
    const double useful = of.share(of.total_ns - inflation + by_others);
    // As many as would do that work without waiting; half a worker more is worth having.
    const auto fewer = static_cast<std::uint64_t>(
        std::max(1.0, std::round(static_cast<double>(of.workers) * useful)));
    return text + "They wait for memory or for each other's cache lines: " +
           (fewer < of.workers ? "try " + count_words(fewer, "worker") + ", bind them, and keep"
                               : "bind the workers, and keep") +
           " the data of a task near the worker that made it. If tasks write to data that lie "
           "close together, such as neighbours in an array, it is false sharing: give what each "
           "task writes cache lines of its own (alignas(64)), or let it write a local variable "
           "first.";
}

std::string nothing_to_do(const efficiency& of) {
    constexpr double k_small_loss = 0.05;  // as in efficiency.cpp
    if (of.total_ns <= 0.0) {
        return "";
    }
    const bool is_unknown = !of.inflation_ns && of.workers > 1 && of.tasks != 0;
    std::string text = "Overhead took " + percent_words(of.share(of.overhead_ns)) +
                       ", starvation " + percent_words(of.share(of.starvation_ns));
    if (of.blocked_ns) {
        text += ", blocked " + percent_words(of.share(*of.blocked_ns));
    }
    if (of.inflation_ns) {
        text += ", inflation " + percent_words(of.share(*of.inflation_ns));
    }
    if (of.lost_ns) {
        text += ", lost " + percent_words(of.share(*of.lost_ns));
    }
    return text + (is_unknown ? ": neither is worth a change. But what tasks lose to each other is "
                                "not known, such as by false sharing of cache lines or a memory "
                                "that is too slow for all of them: it is in the work. `quern run "
                                "--calibrate -- program` finds out what they take alone; run the "
                                "program again then."
                   : of.share(of.lost_ns.value_or(0.0)) > k_small_loss
                       ? ": no other loss is worth a change."
                       : ": no loss is worth a change.");
}

}  // namespace

std::string in_quotes(const site& one) {
    constexpr std::size_t k_longest = 60;
    const std::string name = clean_text(one.name.empty() ? "?" : one.name, k_longest);
    return "'" + name + "'" +
           (one.location.empty() ? "" : " (" + clean_text(one.location, k_longest) + ")");
}

bool comparable(const site& here, const one_core_time& alone) {
    return here.tasks <= 2 * alone.tasks && alone.tasks <= 2 * here.tasks;
}

double longer_than_alone(const site& here, const one_core_time& alone) {
    return std::max(0.0, here.total_ns - alone.mean_ns * static_cast<double>(here.tasks));
}

std::string remedy_for(const efficiency& of, const recording& run, const calibration& one_core) {
    switch (of.largest) {
        case loss_kind::overhead:
            return overhead_remedy(of, run);
        case loss_kind::starvation:
            return starvation_remedy(of, run);
        case loss_kind::blocked:
            return blocked_remedy(of, run);
        case loss_kind::inflation:
            return inflation_remedy(of, run, one_core);
        case loss_kind::none:
            break;
    }
    return nothing_to_do(of);
}

std::string sites_with_other_counts(const recording& run, const calibration& one_core) {
    std::size_t count = 0;
    const site* first = nullptr;
    for (const site& one : run.sites) {
        const one_core_time* const alone = one_core.find(one);
        if (alone != nullptr && !comparable(one, *alone)) {
            first = first == nullptr ? &one : first;
            ++count;
        }
    }
    if (first == nullptr) {
        return "";
    }
    return "The calibration may be of other input: it has " +
           count_words(one_core.find(*first)->tasks, "task") + " of " + in_quotes(*first) +
           ", this run " + count_words(first->tasks) +
           (count > 1 ? ", and more sites differ." : ".");
}

}  // namespace quern::trace::detail
