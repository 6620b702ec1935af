// SPDX-License-Identifier: BSL-1.0
// What is known of a call of MPI, and its words: for reports, statistics and traces. A note is made
// with the call and completed in the entrance with what only MPI knows.
#pragma once

#include <quern/scheduler/detail/wait_reason.hpp>

#include <mpi.h>
#include <array>
#include <cstdint>
#include <string>

namespace quern::mpi::detail {

/// Of the messages that a call passes by itself.
enum class message_way : std::uint8_t { none, sent, received };

/// What a report says of a call. Fields that a call does not have keep their defaults.
struct call_note {
    static constexpr int k_none = -1000;  ///< no rank and no tag: MPI's own constants are above it

    const quern::detail::wait_kind* kind = nullptr;  ///< with the name, "MPI_Recv"
    bool is_sent = false;                            ///< `peer` is the receiver
    int peer = k_none;
    int tag = k_none;
    std::int64_t count = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;  ///< found by a probe, that the call receives
    MPI_File file = MPI_FILE_NULL;
    message_way way = message_way::none;
    bool is_collective = false;
    int requests = -1;  ///< how many the call waits for
    const char* task =
        nullptr;  ///< the name of the task that calls; "": it has none; null: no task
    // For the report on a job that hangs (job/job_state.hpp):
    const MPI_Request* handles = nullptr;  ///< those requests, or one
    bool is_any = false;                   ///< the end of one of them is enough
    const call_note* also = nullptr;       ///< another call that has to end too
    std::uint64_t place = 0;               ///< of a collective call (communicators.hpp)
    // Set by complete_note when the call has to wait:
    std::int64_t bytes = -1;
    std::array<char, 40> comm_name{};  ///< of a communicator that is not MPI's own
};

/// The bytes of the buffer of a call, or -1. Calls MPI.
std::int64_t bytes_of_buffer(const call_note& note) noexcept;

/// Fills in what only MPI knows. In the entrance; the communicator and the type are in use.
void complete_note(call_note& note) noexcept;

/// "MPI_Recv from rank 3 of MPI_COMM_WORLD, tag 7, up to 800 bytes"
std::string describe(const call_note& note);

/// "from rank 3 of MPI_COMM_WORLD, tag 7, up to 800 bytes": the same without the function.
std::string details_of(const call_note& note);

/// "from rank 3 of MPI_COMM_WORLD"; empty if the call has neither a peer nor a communicator.
std::string peer_words(const call_note& note);

/// "MPI_COMM_WORLD", or the name that complete_note has found.
const char* comm_words(const call_note& note) noexcept;

}  // namespace quern::mpi::detail
