// SPDX-License-Identifier: BSL-1.0
// What calls count of messages (notes/call_counts.hpp); traces are told of them too
// (message_trace.hpp).
#pragma once

#include "messages/message_trace.hpp"
#include "notes/notes.hpp"

#include <mpi.h>
#include <cstdint>

namespace quern::mpi::detail {

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
