// SPDX-License-Identifier: BSL-1.0
// What traces are told of messages: a send before it is posted, a receive when its caller has it.
// So receives that do not wait are known from their posting until the call that completes them, but
// only those posted while a trace is recorded. Otherwise it costs one load a call.
#pragma once

#include "communicators.hpp"
#include "operation.hpp"

#include <quern/trace/events.hpp>

#include <mpi.h>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

inline bool are_messages_traced() noexcept { return trace::is_wanted(trace::event_kind::message); }

/// A message is about to be posted for sending.
void trace_sending(const call_note& what, std::uint64_t bytes) noexcept;

/// A receive, from its posting on. Its order is 0 if it is not traced.
struct posted_receive {
    channel where{};
    std::uint64_t order = 0;
};

/// A receive is about to be posted.
posted_receive begin_receive(const call_note& what) noexcept;

/// The message has been received by a call that has waited for it.
void trace_receipt(const posted_receive& what, const MPI_Status& status,
                   std::uint64_t bytes) noexcept;

/// It has been posted, with that request, and is not waited for.
void keep_receive(MPI_Request request, posted_receive what) noexcept;

/// A request has been freed, or is another one's now.
void forget_receive(MPI_Request request) noexcept;

/// A message has been found by MPI_Mprobe or MPI_Improbe.
void keep_found_message(MPI_Message message, MPI_Comm comm) noexcept;

/// A persistent request: what MPI_Start will send or receive. Kept always: it may be started
/// later, while a trace is recorded.
struct persistent_message {
    bool is_sent = false;
    int peer = MPI_PROC_NULL;
    int tag = 0;
    std::uint64_t bytes = 0;
    channel where{};
};
void keep_persistent(MPI_Request request, persistent_message what) noexcept;
/// It is started: counts and tells its message.
void start_persistent(MPI_Request request) noexcept;
/// It has been freed.
void forget_persistent(MPI_Request request) noexcept;

/// The receives among the requests that a call may complete. Made before the call, since a request
/// that has ended is null, or another one's, afterwards.
class awaited_receives {
public:
    /// `statuses`: where the caller wants them, or MPI_STATUS(ES)_IGNORE; the call fills in
    /// `wanted` of them.
    awaited_receives(int count, const MPI_Request* requests, MPI_Status* statuses, int wanted)
        : m_statuses(statuses) {
        if (kept().load(std::memory_order_relaxed) != 0) [[unlikely]] {
            find(count, requests, wanted);
        }
    }

    /// Where MPI is to put the statuses.
    MPI_Status* statuses() noexcept { return m_own.empty() ? m_statuses : m_own.data(); }

    /// The request of that number has ended, with the status of that number.
    void end(int request, int status = 0) noexcept {
        if (!m_found.empty()) {
            tell(request, statuses()[status]);
        }
    }

    /// All have ended; the call has returned `code`.
    void end_all(int code) noexcept;

private:
    struct found {
        int number;  ///< of the request
        MPI_Request request;
        posted_receive what;
    };

    /// How many receives are kept.
    static std::atomic<std::uint64_t>& kept() noexcept;
    void find(int count, const MPI_Request* requests, int wanted);
    void tell(int request, const MPI_Status& status) noexcept;

    MPI_Status* m_statuses;
    std::vector<MPI_Status> m_own;  ///< where the caller wants none
    std::vector<found> m_found;     ///< by number
};

}  // namespace quern::mpi::detail
