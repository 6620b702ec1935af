// SPDX-License-Identifier: BSL-1.0
// What is counted of MPI calls, and what traces are told of messages. The counters /mpi
// (counters_source.cpp) read these words. Calls while no runtime lives count nothing.
#pragma once

#include "operation.hpp"

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/clock.hpp>

#include <mpi.h>
#include <atomic>
#include <cstdint>

namespace quern::mpi::detail {

/// Since the process began. Relaxed additions; any thread.
struct traffic_counts {
    using word = std::atomic<std::uint64_t>;

    alignas(quern::detail::k_cache_line) word sent{0};
    word received{0};
    word bytes{0};  ///< of both
    /// Of tasks that were suspended in calls.
    alignas(quern::detail::k_cache_line) word suspended{0};
    word waiting_ticks{0};
    word hidden_ticks{0};
};

extern traffic_counts g_traffic;

/// A wait of a task has ended: it lasted so long, and meanwhile the worker that the task had left
/// was without work for so long.
void count_wait(quern::detail::tick_count waited, quern::detail::tick_count idle) noexcept;

/// A message is about to be posted for sending: tells traces.
void tell_sending(const call_note& what) noexcept;
/// It has been posted without an error.
void count_sent(const call_note& what) noexcept;

/// A message has been received, as its status says. Tells traces, and counts it.
void has_received(const call_note& what, const MPI_Status& status) noexcept;

/// The status of a receive from MPI_PROC_NULL; MPICH 4.0 forgets it for non-blocking receives.
void become_empty(MPI_Status& status) noexcept;

/// A receive has been posted that does not wait: counted with the bytes of its buffer.
void count_posted_receive(const call_note& what) noexcept;

/// The sending half of an exchange.
call_note sending_half(const call_note& what, int dest, int tag, std::int64_t count,
                       MPI_Datatype type) noexcept;

}  // namespace quern::mpi::detail
