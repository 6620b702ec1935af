// SPDX-License-Identifier: BSL-1.0
// Causes of starvation and their remedies.
#include "analyse/concurrency.hpp"
#include "analyse/remedies.hpp"
#include "analyse/wait_words.hpp"
#include "analyse/words.hpp"

#include <quern/trace/critical_path.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace quern::trace::detail {

namespace {

/// A run is unbalanced if a worker has this many times the mean task time.
constexpr double k_lopsided = 1.5;

std::string starved_by_few_tasks(const efficiency& of) {
    return "There were only " + count_words(of.tasks, "task") + " for " +
           count_words(of.workers, "worker") + ". Divide the work into more tasks.";
}

/// When the longest task of the site began; std::nullopt if slices are missing.
std::optional<std::uint64_t> begin_of_longest(const recording& run, const site& of) {
    struct seen {
        std::uint64_t begin_ns = 0;
        double spent_ns = 0.0;
    };
    std::unordered_map<std::uint64_t, seen> tasks;
    const auto wanted = static_cast<std::uint32_t>(&of - run.sites.data());
    for (const lane& each : run.lanes) {
        if (each.dropped != 0) {
            return std::nullopt;
        }
        for (const slice& s : each.slices) {
            if (s.site == wanted) {
                seen& task = tasks.try_emplace(s.task, seen{s.begin_ns, 0.0}).first->second;
                task.begin_ns = std::min(task.begin_ns, s.begin_ns);
                task.spent_ns += static_cast<double>(s.end_ns - s.begin_ns);
            }
        }
    }
    const auto longest = std::max_element(
        tasks.begin(), tasks.end(),
        [](const auto& a, const auto& b) { return a.second.spent_ns < b.second.spent_ns; });
    return longest == tasks.end() ? std::nullopt : std::optional(longest->second.begin_ns);
}

/// Children of forks and loops that other workers took: a long task may have had such help.
struct stolen_parts {
    std::uint64_t count = 0;
    double total_ns = 0.0;

    static stolen_parts of(const recording& run) {
        stolen_parts sum;
        for (const site& each : run.sites) {
            if (each.is_part) {
                sum.count += each.tasks;
                sum.total_ns += each.total_ns;
            }
        }
        return sum;
    }
};

/// An earlier begin helps only if the task began late.
std::string starved_by_long_task(const recording& run, const site& of) {
    constexpr double k_late = 0.1;  // of the run (guessed)
    const double duration = static_cast<double>(run.duration_ns);
    const std::optional<std::uint64_t> begin = begin_of_longest(run, of);
    const stolen_parts parts = stolen_parts::of(run);
    if (parts.count != 0) {
        return "One task of " + in_quotes(of) + " took " + duration_words(of.max_ns) + ", " +
               percent_words(of.max_ns / duration) + " of the run. Other workers took " +
               count_words(parts.count, "part") + " of loops and forks, " +
               duration_words(parts.total_ns) +
               " in all; while there were none, they had nothing to do. Make what it does alone "
               "parallel too, or its loops longer.";
    }
    const double at = begin ? static_cast<double>(*begin) / duration : 0.0;
    return "One task of " + in_quotes(of) + " took " + duration_words(of.max_ns) + ", " +
           percent_words(of.max_ns / duration) + " of the run, while others had nothing to do. " +
           (!begin         ? "Divide it, or begin it first."
            : at >= k_late ? "Begin it first, for it began when " + percent_words(at) +
                                 " of the run had passed, or divide it."
                           : "It began when the run did, so that only dividing it helps.");
}

/// The lock for which tasks waited most, if all waits for locks sum to more than half of the idle
/// time; else null. If several sites wait for a lock, the row with the most time.
const wait_row* lock_in_the_way(const efficiency& of, const recording& run) {
    double waited_ns = 0.0;
    const wait_row* most = nullptr;
    for (const wait_row& each : run.waits) {
        if (each.is_lock && each.thing != 0) {
            waited_ns += each.total_ns;
            most = most == nullptr || each.total_ns > most->total_ns ? &each : most;
        }
    }
    return waited_ns > of.starvation_ns / 2 ? most : nullptr;
}

std::string starved_by_lock(const wait_row& lock, const recording& run) {
    const wait_line& line = lock.lines.front();
    return "Tasks" +
           (lock.site < run.sites.size() ? " of " + in_quotes(run.sites[lock.site]) : "") +
           " waited " + count_words(lock.waits) + " times for the " + thing_words(lock) +
           (line.location.empty() ? "" : ", locked at " + line.location) + ", " +
           duration_words(lock.mean_ns()) +
           " each on average: what it protects runs one task at a time. Hold it for less, give "
           "each part of the data a lock of its own, or let tasks collect results of their own and "
           "combine them at the end.";
}

/// Objects at which tasks wait for each other, by the begin of their names in wait_kind, and what
/// helps.
struct meeting_point {
    std::string_view kind;
    std::string_view what_for;
    std::string_view advice;
};

constexpr meeting_point k_meeting_points[] = {
    {"channel, to send", "to send to the channel",
     "it was full: those that receive are too slow or too few. Divide their work among more tasks, "
     "or give the channel more room."},
    {"channel, to receive", "to receive from the channel",
     "it was empty: those that send are too slow or too few. Divide their work among more tasks, "
     "or let them begin earlier."},
    {"counting_semaphore", "for the counting_semaphore",
     "all its permits were taken. Give it more, hold each for less, or have other work meanwhile."},
    {"sliding_semaphore", "for the sliding_semaphore",
     "others were too far behind. Let it slide further, or divide the work of the slowest."},
    {"barrier", "at the barrier",
     "those that came first waited for the last. Give each the same amount of work, or "
     "meet less often."},
    {"latch", "at the latch",
     "those that came first waited for the last. Give each the same amount of work."},
    {"a notice of a condition_variable", "for a notice of the condition_variable",
     "nothing had changed. Have more tasks that wait for different things, or begin what changes "
     "it earlier."},
};

const meeting_point* meeting_point_of(const wait_row& row) {
    const auto* const at =
        std::find_if(std::begin(k_meeting_points), std::end(k_meeting_points),
                     [&](const meeting_point& each) { return row.kind.starts_with(each.kind); });
    return at == std::end(k_meeting_points) ? nullptr : at;
}

/// The object other than a lock for which tasks waited most, if such waits sum to more than half of
/// the idle time; else null. Waits that are few and long are no loss: a task that writes what
/// arrives seldom waits all the time.
const wait_row* meeting_in_the_way(const efficiency& of, const recording& run) {
    constexpr std::uint64_t k_often = 10;  // guessed
    constexpr double k_long = 0.1;         // of the run (guessed)
    double waited_ns = 0.0;
    const wait_row* most = nullptr;
    for (const wait_row& each : run.waits) {
        const bool is_short = each.mean_ns() < k_long * static_cast<double>(run.duration_ns);
        if (!each.is_lock && each.waits >= k_often && is_short && meeting_point_of(each)) {
            waited_ns += each.total_ns;
            most = most == nullptr || each.total_ns > most->total_ns ? &each : most;
        }
    }
    return waited_ns > of.starvation_ns / 2 ? most : nullptr;
}

std::string starved_by_meeting(const wait_row& point, const recording& run) {
    const meeting_point& meant = *meeting_point_of(point);
    const std::string line = point.lines.empty() ? "" : point.lines.front().location;
    const std::string words = thing_words(point);
    const std::size_t address = words.rfind(" 0x");
    return "Tasks" +
           (point.site < run.sites.size() ? " of " + in_quotes(run.sites[point.site]) : "") +
           " waited " + count_words(point.waits) + " times " + std::string(meant.what_for) +
           (address == std::string::npos ? "" : words.substr(address)) +
           (line.empty() ? "" : ", at " + line) + ", " + duration_words(point.mean_ns()) +
           " each on average: " + std::string(meant.advice);
}

/// "; 80 % of it is in 'relax' (a.cpp:7)".
std::string most_critical(const recording& run) {
    const site* const most = largest(run, [](const site& s) { return s.critical_ns; });
    return most == nullptr ? ""
                           : "; " + percent_words(most->critical_ns / run.critical_path_ns) +
                                 " of it is in " + in_quotes(*most);
}

std::string starved_by_chain(double parallelism, const recording& run) {
    return "The tasks depend on each other so that on average " + short_number(parallelism) +
           " can run at a time. Remove dependences, use fewer workers, or make the tasks of the "
           "critical path smaller" +
           most_critical(run) + ".";
}

std::string starved_by_serial_part(double share) {
    return "During " + percent_words(share) +
           " of the run no more than one task ran. Make tasks of that part too, or begin it "
           "earlier, beside others.";
}

std::string starved_by_waiting(double share) {
    return "During " + percent_words(share) +
           " of the run no task ran at all: those that there were waited, for time, input, or "
           "something outside of the runtime. Have more of them wait at the same time.";
}

std::string starved_by_balance(const lane& busiest, double ratio) {
    return "Worker " + std::to_string(busiest.rank) + " ran tasks " + short_number(ratio) +
           " times as long as the mean of all. Make smaller tasks, so that others can take some.";
}

}  // namespace

/// The first cause shown by the recording. A cause with a quantified effect must explain half of
/// the starvation.
std::string cause_of_starvation(const efficiency& of, const recording& run) {
    if (of.tasks < 2 * of.workers) {
        return starved_by_few_tasks(of);
    }
    const double duration = static_cast<double>(run.duration_ns);
    const double work = of.work_ns + of.inflation_ns.value_or(0.0);
    const double workers = static_cast<double>(of.workers);
    const site* const longest = largest(run, [](const site& s) { return s.max_ns; });
    if (longest != nullptr && longest->max_ns > duration / 2 &&
        longest->max_ns > work / workers / 2) {
        return starved_by_long_task(run, *longest);
    }
    if (const wait_row* const lock = lock_in_the_way(of, run)) {
        return starved_by_lock(*lock, run);
    }
    const double half = of.share(of.starvation_ns) / 2;
    const concurrency_shares shares = shares_of(run);
    if (shares.nothing > half) {
        return starved_by_waiting(shares.nothing);
    }
    if (const wait_row* const point = meeting_in_the_way(of, run)) {
        return starved_by_meeting(*point, run);
    }
    const double parallelism = run.critical_path_ns > 0.0 ? parallelism_of(run) : workers;
    if (1.0 - parallelism / workers > half) {
        return starved_by_chain(parallelism, run);
    }
    if (shares.at_most_one > half) {
        return starved_by_serial_part(shares.at_most_one);
    }
    const auto busiest = std::max_element(
        run.lanes.begin(), run.lanes.end(),
        [](const lane& a, const lane& b) { return a.totals.running_ns < b.totals.running_ns; });
    if (busiest != run.lanes.end() && busiest->totals.running_ns > k_lopsided * work / workers) {
        return starved_by_balance(*busiest, busiest->totals.running_ns * workers / work);
    }
    return "Make more and smaller tasks (they take " +
           duration_words(work / static_cast<double>(of.tasks)) +
           " on average), or use fewer workers.";
}

}  // namespace quern::trace::detail
