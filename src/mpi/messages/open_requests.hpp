// SPDX-License-Identifier: BSL-1.0
// The requests of this process from the call that has given them to the one that ends them: MPI
// does not tell what an MPI_Wait waits for. Traces must know receives, and the report on a job that
// hangs all of them; requests are kept only while a trace is recorded or the job is watched.
// Otherwise it costs one load a call.
#pragma once

#include "messages/handle_table.hpp"
#include "messages/message_trace.hpp"
#include "notes/communicators.hpp"
#include "progress/operation.hpp"

#include <mpi.h>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

/// A call in terms that all ranks share.
struct shared_note {
    static constexpr int k_any = -1;
    static constexpr int k_none = -2;  ///< no peer, or one that is no rank of MPI_COMM_WORLD

    enum class way : std::uint8_t {
        sent,
        received,
        collective,
        other  ///< may end by itself, as far as is known here
    };

    const char* call = "";
    way how = way::other;
    std::uint64_t comm = 0;  ///< the number of a known_comm, or 0: not known
    int peer = k_none;       ///< rank of MPI_COMM_WORLD
    int tag = k_none;        ///< or k_any
    std::int64_t bytes = -1;
    int root = k_none;        ///< of a collective call, as rank of the communicator
    std::uint64_t place = 0;  ///< of a collective call on its communicator
};

/// `on`: the communicator of the call, or null. Calls MPI.
shared_note share(const call_note& note, const known_comm* on) noexcept;

struct open_request {
    std::optional<shared_note> call{};  ///< in a watched job, unless the request is persistent
    posted_receive received{};          ///< Its order is 0 if traces need not know it.
    std::uint64_t serial = 0;  ///< The library may use a handle again when its request has ended.
};
using open_requests = handle_table<MPI_Request, open_request>;

/// A request has begun. Calls MPI in a watched job.
void keep_request(MPI_Request begun, const call_note& what, posted_receive received) noexcept;
/// The same of a persistent one.
void keep_request(MPI_Request begun, posted_receive received) noexcept;

/// Around a call that may end requests: tells traces of the receives that it has ended, and forgets
/// all that it has ended. Made before the call, since a request that has ended is null, or another
/// one's, afterwards.
class ended_requests {
public:
    /// `statuses`: where the caller wants them, or MPI_STATUS(ES)_IGNORE; the call fills in
    /// `wanted` of them.
    ended_requests(int count, const MPI_Request* requests, MPI_Status* statuses, int wanted)
        : m_requests(requests), m_statuses(statuses) {
        if (!open_requests::is_empty()) [[unlikely]] {
            find(count, wanted);
        }
    }
    ended_requests(const ended_requests&) = delete;
    ended_requests& operator=(const ended_requests&) = delete;
    ~ended_requests() {
        if (!m_found.empty()) [[unlikely]] {
            forget_null();
        }
    }

    /// Where MPI is to put the statuses.
    MPI_Status* statuses() noexcept { return m_own.empty() ? m_statuses : m_own.data(); }

    /// The request of that number has ended, with the status of that number.
    void end(int request, int status = 0) noexcept;

    /// That request has ended and the call waits for others: it is no longer open, and traces are
    /// told of it by end_all(). Any thread may call it.
    void forget(int request) noexcept;

    /// All have ended; the call has returned `code`.
    void end_all(int code) noexcept;

private:
    struct found {
        int number;  ///< of the request
        MPI_Request request;
        open_request what;
    };

    void find(int count, int wanted);
    const found* known(int request) const noexcept;
    void forget_null() noexcept;
    void tell(const found& ended, const MPI_Status& status) noexcept;

    const MPI_Request* m_requests;
    MPI_Status* m_statuses;
    std::vector<MPI_Status> m_own;  ///< where the caller wants none, and traces need them
    std::vector<found> m_found;     ///< by number
};

}  // namespace quern::mpi::detail
