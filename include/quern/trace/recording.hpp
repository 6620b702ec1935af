// SPDX-License-Identifier: BSL-1.0
// The recording of a run as plain data: created by the recorder when a runtime ends, read by the
// writers of Perfetto protobuf and of the page. Times are nanoseconds since the recording began.
#pragma once

#include <quern/scheduler/worker_stats.hpp>
#include <quern/trace/dependence_graph.hpp>
#include <quern/trace/job.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::trace {

/// The place in the source that creates a kind of task, with the statistics of its tasks.
struct site {
    std::string name{};      ///< the name given by the user, or the function, or an address
    std::string location{};  ///< "heat.cpp:42", or empty
    std::uint64_t tasks = 0;
    std::uint64_t phases = 0;  ///< pieces between suspensions: at least one per task
    std::uint64_t suspensions = 0;
    std::uint64_t inlined = 0;   ///< run in place of a waiting task
    std::uint64_t stolen = 0;    ///< begun on another worker than the one that created it
    double total_ns = 0.0;       ///< in the bodies of its tasks
    double waited_ns = 0.0;      ///< from a task's suspension to its wake-up
    double critical_ns = 0.0;    ///< of recording::critical_path_ns
    double blocked_ns = 0.0;     ///< part of the total, asleep in the kernel, as far as known
    double lost_ns = 0.0;        ///< part of the total, ready without a processor: an estimate
    double lost_error_ns = 0.0;  ///< so much of that may have been before its tasks
    double min_ns = 0.0;
    double max_ns = 0.0;
    double stddev_ns = 0.0;
    /// How many tasks took from 2^i up to 2^(i+1) ns.
    std::array<std::uint64_t, 48> histogram{};
    /// Total of each of recording::events for its tasks: an estimate if these are a sample, or if
    /// the event was counted part of the time. Empty: none of its tasks was measured.
    std::vector<double> events{};
    bool is_part = false;  ///< children of forks, and parts of loops, that other workers took

    double mean_ns() const noexcept {
        return tasks == 0 ? 0.0 : total_ns / static_cast<double>(tasks);
    }
};

/// A piece without a count of the event.
inline constexpr std::uint64_t k_unknown_count = ~std::uint64_t{0};

/// At the same time.
inline constexpr std::size_t k_most_events = 8;

/// An event that was counted by kind of task.
struct counted_event {
    std::string name{};  ///< "instructions"
    std::string unit{};
    std::string why{};     ///< why it is unavailable, or empty
    double counted = 1.0;  ///< fraction of the time; less than 1: scaled to all
};

/// A piece of a task that ran without interruption on a worker.
struct slice {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t task = 0;    ///< the same for all pieces of a task
    std::uint64_t parent = 0;  ///< the task that created it, or 0
    std::uint32_t site = 0;    ///< an index into recording::sites
    bool suspended = false;    ///< it ended because the task waited
    bool inlined = false;      ///< the task runs in place of one that waits for it
    bool covered = false;      ///< ended by an inlined task in its place; continues later
    bool stolen = false;       ///< created by another worker
    bool continued = false;    ///< it follows a covered one directly
    bool first = false;
    std::uint64_t cause = 0;     ///< the task that created or woke it, or 0
    std::uint64_t ready_ns = 0;  ///< when it was queued, or 0
    std::uint32_t wait = 0;      ///< the wait at its end: recording::waits[wait - 1]; or 0
};

/// A line at which tasks waited; estimated from the waits whose line was looked up.
struct wait_line {
    std::string function{};
    std::string location{};  ///< "heat.cpp:42"; both are empty if no line was found
    std::uint64_t waits = 0;
    double total_ns = 0.0;
};

/// The waits of the tasks of one site: a row per object, or per kind for objects that are waited
/// for once. Tasks that are coroutines and outside threads have no rows.
struct wait_row {
    std::string kind{};       ///< "mutex"
    bool is_lock = false;     ///< it is released by its holder
    std::uint64_t thing = 0;  ///< its address; 0: several
    std::uint32_t site = 0;   ///< an index into recording::sites
    std::uint64_t waits = 0;
    double total_ns = 0.0;  ///< until the wake-up
    double max_ns = 0.0;
    std::vector<wait_line> lines{};  ///< the largest total time first

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

/// A message that a task on the worker sent or received (trace/events.hpp).
struct passed_message {
    std::uint64_t at_ns = 0;  ///< when it was posted for sending, or seen to have arrived
    std::uint64_t task = 0;
    bool is_sent = false;
    int peer = -1;
    int tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0;
    std::uint64_t order = 0;
};

struct lane {
    std::string pool;
    std::uint32_t rank = 0;
    std::int32_t thread = 0;      ///< kernel thread id
    std::vector<slice> slices{};  ///< in order of time
    /// recording::events.size() values per slice: the count during it, or k_unknown_count. Empty if
    /// no events were counted.
    std::vector<std::uint64_t> events{};
    std::vector<interval> parked{};  ///< asleep for lack of work
    std::vector<theft> thefts{};     ///< tasks that it has stolen
    std::vector<passed_message> messages{};
    std::uint64_t waits = 0;    ///< resumptions of tasks after a wait
    std::uint64_t dropped = 0;  ///< events without room
    worker_totals totals;       ///< of the recorded time
    /// Part of the time in tasks: its thread slept in the kernel. None: the system does not report
    /// it.
    std::optional<double> blocked_ns{};
    /// Its thread was ready and had no processor, as the kernel counts it; and an estimate of how
    /// much of that was after wake-ups, in idle time. None: as above.
    std::optional<double> lost_ns{};
    double lost_idle_ns = 0.0;
};

/// A value that changes with time.
struct series {
    std::string name;
    std::string unit;
    std::vector<std::pair<std::uint64_t, double>> points;
    std::string why{};  ///< why there are no points, or empty
};

/// The number of tasks of one site created by tasks of another.
struct spawn_count {
    std::uint32_t parent = 0;  ///< an index into recording::sites
    std::uint32_t child = 0;
    std::uint64_t tasks = 0;
};

struct changed_number {
    std::string name{};  ///< of a value that has several numbers
    double before = 0;
    double after = 0;
};

/// A value that a decision changed. Texts are shown as they are; empty ones are left out.
struct value_change {
    std::string subject{};  ///< a knob, a site, a tuned number
    std::string unit{};
    std::string before{};  ///< without the unit
    std::string after{};
    std::vector<changed_number> numbers{};  ///< the same, as far as it consists of numbers
    std::string inputs{};                   ///< what it was computed from
    std::string why{};
    std::optional<double> predicted{};  ///< cost after it, as a ratio to the cost before
    std::optional<double> observed{};   ///< the same, measured
    bool is_trial = false;              ///< set in order to be measured
    bool applied = true;
};

struct decision {
    std::uint64_t at_ns = 0;
    std::string who{};
    std::string what{};                    ///< in words, with old and new value and reason
    std::optional<value_change> change{};  ///< the parts of `what`, if it changed a value
};

/// Time in which the workers' threads could have run but had no processor, summed over the workers.
/// None: the system does not report it.
struct taken_time {
    std::optional<double> by_programs_ns;    ///< other threads, of this program or another, ran
    std::optional<double> by_hypervisor_ns;  ///< other virtual machines ran
    std::optional<double> by_quota_ns;       ///< a CPU quota stopped them
    unsigned processors = 0;                 ///< available to the program; 0: not known

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
    std::uint64_t begun_ns = 0;  ///< on the clock std::chrono::steady_clock
    std::uint64_t ended_ns = 0;  ///< the same
    unsigned number = 1;         ///< of the recorded runtimes of the process
    job_place job{};
    std::optional<communication> talk{};  ///< with other processes, meanwhile
    std::vector<site> sites;
    std::vector<counted_event> events{};  ///< by kind of task; the values are in the sites
    std::vector<lane> lanes;
    std::vector<passed_message> outside{};  ///< messages of threads that are not workers
    std::uint64_t outside_dropped = 0;      ///< of them, without room
    std::vector<series> counters;
    std::vector<wait_row> waits{};  ///< the largest total time first
    std::vector<spawn_count> tree;
    std::vector<decision> decisions;
    task_graph graph{};  ///< of the dependent tasks; empty if it was not wanted
    taken_time taken;
    /// The process was stopped by a signal, or its group was frozen. Contained in lane::lost_ns of
    /// each worker. Stops shorter than 50 ms are not seen.
    double stopped_ns = 0.0;
    std::string why_no_task{};   ///< in words, if the runtime has run none
    std::string why_no_lines{};  ///< in words, if no kind of task has a line of the source
    /// Number of tasks; if the sites have fewer, numbers of short tasks are estimated from a
    /// sample.
    std::uint64_t tasks_seen = 0;
    double overhead_ns_per_task = 0.0;  ///< management time divided by tasks
    /// The longest chain of tasks in which each created or woke the next, or 0 if not known.
    double critical_path_ns = 0.0;
    double late_ends_ns = 0.0;  ///< of critical_chain (critical_path.hpp)
};

}  // namespace quern::trace
