// SPDX-License-Identifier: BSL-1.0
// What was recorded of a run, as plain data: made by the recorder when a runtime ends, read by
// those who write it, as Perfetto protobuf or as a page. Times are nanoseconds since the recording
// began.
#pragma once

#include <quern/scheduler/worker_stats.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::trace {

/// The place in the source that makes a kind of task, with the statistics of its tasks.
struct site {
    std::string name{};      ///< as the user named the task, or the function, or an address
    std::string location{};  ///< "heat.cpp:42", or empty
    std::uint64_t tasks = 0;
    std::uint64_t phases = 0;  ///< pieces between suspensions: at least one a task
    std::uint64_t suspensions = 0;
    std::uint64_t inlined = 0;  ///< run in the place of one who waited for it
    std::uint64_t stolen = 0;   ///< begun on another worker than the one that made it
    double total_ns = 0.0;      ///< in the bodies of its tasks
    double waited_ns = 0.0;     ///< its tasks were suspended, until they were woken
    double critical_ns = 0.0;   ///< of recording::critical_path_ns
    double blocked_ns = 0.0;    ///< of that, its threads slept in the kernel, as far as it is known
    double min_ns = 0.0;
    double max_ns = 0.0;
    double stddev_ns = 0.0;
    /// How many tasks took from 2^i up to 2^(i+1) ns.
    std::array<std::uint64_t, 48> histogram{};
    /// How much of each of recording::events its tasks have caused, all together: an estimate where
    /// these are a sample, or the event was counted part of the time. Empty: none of its tasks was
    /// measured.
    std::vector<double> events{};

    double mean_ns() const noexcept {
        return tasks == 0 ? 0.0 : total_ns / static_cast<double>(tasks);
    }
};

/// Of one piece: nothing is known of it.
inline constexpr std::uint64_t k_unknown_count = ~std::uint64_t{0};

/// At a time.
inline constexpr std::size_t k_most_events = 8;

/// An event that was counted by kind of task.
struct counted_event {
    std::string name{};  ///< "instructions"
    std::string unit{};
    std::string why{};     ///< why it is unavailable, or empty
    double counted = 1.0;  ///< the part of the time in which it was; less than 1: scaled to all
};

/// A piece of a task that ran without interruption on a worker.
struct slice {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t task = 0;    ///< the same for all pieces of a task
    std::uint64_t parent = 0;  ///< the task that made it, or 0
    std::uint32_t site = 0;    ///< an index into recording::sites
    bool suspended = false;    ///< it ended because the task waited
    bool inlined = false;      ///< the task runs in the place of one who waits for it
    bool covered = false;    ///< it ended because an inlined task ran in its place; it goes on then
    bool stolen = false;     ///< another worker than this one made the task
    bool continued = false;  ///< it comes after such a one at once
    bool first = false;      ///< of its task
    std::uint64_t cause = 0;     ///< the task that made it or woke it, or 0
    std::uint64_t ready_ns = 0;  ///< when it was put into a queue before, or 0
    std::uint32_t wait = 0;  ///< for what it waits where it ends: recording::waits[wait - 1]; or 0
};

/// A line at which tasks waited; estimated from those waits of which it was looked up.
struct wait_line {
    std::string function{};
    std::string location{};  ///< "heat.cpp:42"; both are empty where no line was found
    std::uint64_t waits = 0;
    double total_ns = 0.0;
};

/// What the tasks of one site waited for: a row for each thing, or for all of a kind whose things
/// are waited for once. Of tasks that are coroutines and of threads outside there is none.
struct wait_row {
    std::string kind{};       ///< "mutex"
    bool is_lock = false;     ///< it is released by its holder
    std::uint64_t thing = 0;  ///< its address; 0: of several
    std::uint32_t site = 0;   ///< an index into recording::sites
    std::uint64_t waits = 0;
    double total_ns = 0.0;  ///< until they were woken
    double max_ns = 0.0;
    std::vector<wait_line> lines{};  ///< the one with the most time first

    double mean_ns() const noexcept {
        return waits == 0 ? 0.0 : total_ns / static_cast<double>(waits);
    }
};

struct interval {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
};

struct theft {
    std::uint64_t at_ns = 0;
    std::uint32_t victim = 0;  ///< the rank of a worker of the same pool
};

/// A worker.
struct lane {
    std::string pool;
    std::uint32_t rank = 0;
    std::int32_t thread = 0;      ///< as the kernel numbers it
    std::vector<slice> slices{};  ///< in order of time
    /// Of each slice as many as recording::events: what has happened in it, or k_unknown_count.
    /// Empty where none were counted.
    std::vector<std::uint64_t> events{};
    std::vector<interval> parked{};  ///< asleep for want of work
    std::vector<theft> thefts{};     ///< what it has stolen
    std::uint64_t waits = 0;         ///< events of tasks that went on after a wait
    std::uint64_t dropped = 0;       ///< events for which there was no room
    worker_totals totals;            ///< of the recorded time
    /// Of the time in tasks: its thread slept in the kernel. Nothing: the system does not say.
    std::optional<double> blocked_ns{};
};

/// Something that changed with time.
struct series {
    std::string name;
    std::string unit;
    std::vector<std::pair<std::uint64_t, double>> points;
    std::string why{};  ///< why there are no points, or empty
};

/// So many tasks of one site were made by tasks of another.
struct spawn_count {
    std::uint32_t parent = 0;  ///< an index into recording::sites
    std::uint32_t child = 0;
    std::uint64_t tasks = 0;
};

struct decision {
    std::uint64_t at_ns = 0;
    std::string who;
    std::string what;  ///< in words, with old and new value and why
};

/// Time in which the workers' threads could have run and had no processor, of all of them together.
/// Nothing: the system does not say.
struct taken_time {
    std::optional<double> by_programs_ns;    ///< other threads, of this program or another, ran
    std::optional<double> by_hypervisor_ns;  ///< it ran other machines
    std::optional<double> by_quota_ns;       ///< a CPU quota stopped them
    unsigned processors = 0;                 ///< that the program may use; 0: not known

    double total_ns() const noexcept {
        return by_programs_ns.value_or(0.0) + by_hypervisor_ns.value_or(0.0) +
               by_quota_ns.value_or(0.0);
    }
};

struct recording {
    std::string program;
    std::string command_line;
    std::string started;                                        ///< wall clock, ISO 8601
    std::string machine;                                        ///< in words
    std::vector<std::pair<std::string, std::string>> settings;  ///< name, value with its origin
    std::uint64_t duration_ns = 0;
    std::vector<site> sites;
    std::vector<counted_event> events{};  ///< by kind of task; the values are in the sites
    std::vector<lane> lanes;
    std::vector<series> counters;
    std::vector<wait_row> waits{};  ///< the one with the most time first
    std::vector<spawn_count> tree;
    std::vector<decision> decisions;
    taken_time taken;
    std::string why_no_task{};  ///< in words, when the runtime has run none
    /// Of the tasks; when these are fewer, numbers of short tasks are estimated from a sample.
    std::uint64_t tasks_seen = 0;
    double overhead_ns_per_task = 0.0;  ///< managing time divided by tasks
    /// The longest chain of tasks one of which made or woke the next, or 0 when it is not known.
    double critical_path_ns = 0.0;
    double late_ends_ns = 0.0;  ///< of critical_chain (critical_path.hpp)
};

}  // namespace quern::trace
