// SPDX-License-Identifier: BSL-1.0
// The place of this process among the processes of a job, such as the ranks of MPI, for traces that
// are joined (trace/merge.hpp) and for reports. A layer that knows the other processes tells it.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace quern::trace {

/// How far the clock of rank 0 is ahead of this process's, both being std::chrono::steady_clock:
/// measured by an exchange of messages, so it is wrong by at most half of the round trip.
struct clock_reading {
    std::uint64_t at_ns = 0;  ///< on this process's clock
    std::int64_t offset_ns = 0;
    std::uint64_t round_trip_ns = 0;  ///< 0: it was not measured, both read the same clock
};

struct job_place {
    std::string job{};  ///< the same text in all processes of the job, another in every other job
    int rank = -1;      ///< -1: the process is in no job, or it is not known
    int ranks = 0;
    std::vector<clock_reading> clocks{};  ///< in order of time

    bool is_known() const noexcept { return rank >= 0; }
};

/// Tells the place. Recordings that end later contain it. Thread safe.
///
///     quern::trace::describe_job({.job = "7f31", .rank = 2, .ranks = 4});
void describe_job(job_place where);

/// Adds a later reading of the clock, also to the traces that the process has written: files named
/// by the setting `trace` that still exist. Does nothing unless describe_job() was called. A file
/// that cannot be written is left as it is. Thread safe.
void add_clock_reading(const clock_reading& seen);

/// What was told. Thread safe.
job_place job_of_process();

/// What passed between this process and others. Times are sums over tasks.
struct communication {
    std::uint64_t sent = 0;      ///< messages
    std::uint64_t received = 0;  ///< messages
    std::uint64_t bytes = 0;     ///< of both
    double waiting_ns = 0.0;     ///< tasks were suspended in calls
    double hidden_ns = 0.0;      ///< part of it in which the worker that the task left had work
};

/// Names the function that reads the sums since the process began; recordings contain the
/// difference between their end and their beginning. Thread safe; the function must be too.
void read_communication_by(communication (*read)() noexcept) noexcept;

namespace detail {

/// The sums now, or zeros.
communication communication_now() noexcept;

/// Whether read_communication_by() was called.
bool knows_communication() noexcept;

/// A trace has been written there: add_clock_reading() appends to it.
void trace_was_written(const std::string& path);

}  // namespace detail

}  // namespace quern::trace
