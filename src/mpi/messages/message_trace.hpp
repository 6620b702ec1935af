// SPDX-License-Identifier: BSL-1.0
// What traces are told of messages: a send before it is posted, a receive when its caller has it.
// Without a trace it costs one load a call. Receives that do not wait: open_requests.hpp.
#pragma once

#include "notes/communicators.hpp"
#include "progress/operation.hpp"

#include <quern/trace/events.hpp>

#include <mpi.h>
#include <cstdint>

namespace quern::mpi::detail {

inline bool are_messages_traced() noexcept { return trace::is_wanted(trace::event_kind::message); }

/// A message is about to be posted for sending.
void trace_sending(const channel& where, int peer, int tag, std::uint64_t bytes) noexcept;

/// A receive, from its posting on. Its order is 0 if it is not traced.
struct posted_receive {
    channel where{};
    std::uint64_t order = 0;
};

/// A receive is about to be posted.
posted_receive begin_receive(const call_note& what) noexcept;
posted_receive begin_receive(channel where) noexcept;

/// The message has been received by a call that has waited for it.
void trace_receipt(const posted_receive& what, const MPI_Status& status,
                   std::uint64_t bytes) noexcept;

/// A message has been found by MPI_Mprobe or MPI_Improbe.
void keep_found_message(MPI_Message message, MPI_Comm comm) noexcept;

}  // namespace quern::mpi::detail
