// SPDX-License-Identifier: BSL-1.0
// What is counted of MPI calls; traces are told of messages too (message_trace.hpp). The counters
// /mpi (counters_source.cpp) read these words. Calls while no runtime lives count nothing.
#pragma once

#include "message_trace.hpp"
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

/// A message has been received, as its status says, by a receive that begin_receive() knows. Tells
/// traces, and counts it.
void has_received(const call_note& what, const MPI_Status& status,
                  const posted_receive& posted) noexcept;

/// The status of a receive, also where the caller does not want it. As MPI_Recv does, it leaves the
/// error in the caller's status as it is.
class received_status {
public:
    explicit received_status(MPI_Status* wanted) noexcept : m_wanted(wanted) {
        if (m_wanted != MPI_STATUS_IGNORE) {
            m_seen = *m_wanted;  // stays so if nothing is received
        }
    }
    received_status(const received_status&) = delete;
    received_status& operator=(const received_status&) = delete;
    ~received_status() {
        if (m_wanted != MPI_STATUS_IGNORE) {
            m_seen.MPI_ERROR = m_wanted->MPI_ERROR;
            *m_wanted = m_seen;
        }
    }
    MPI_Status* get() noexcept { return &m_seen; }

private:
    MPI_Status* m_wanted;
    MPI_Status m_seen{};
};

/// A persistent request has been started.
void count_started(bool is_sent, std::uint64_t bytes) noexcept;

/// Of a message that is sent, or of the buffer of one that is received.
std::uint64_t bytes_of(const call_note& what) noexcept;

/// A receive has been posted that does not wait: counted with the bytes of its buffer.
void count_posted_receive(const call_note& what) noexcept;

}  // namespace quern::mpi::detail
