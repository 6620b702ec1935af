// SPDX-License-Identifier: BSL-1.0
// Keeps requests that have begun, and tells traces of receives that have ended.
#include "messages/open_requests.hpp"

#include "notes/watched_job.hpp"

#include <algorithm>
#include <atomic>

namespace quern::mpi::detail {

namespace {

std::atomic<std::uint64_t> g_last_serial{0};

/// Requires: the status is that of a receive.
std::uint64_t bytes_in(const MPI_Status& status) noexcept {
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    return static_cast<std::uint64_t>(std::max<MPI_Count>(bytes, 0));
}

bool is_cancelled(const MPI_Status& status) noexcept {
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    return cancelled != 0;
}

/// Also if nothing is known of it: the handle may have been another request's.
/// Sends that end at once may share one request of the library: one entry for them is enough.
void keep(MPI_Request begun, open_request what) noexcept {
    if (begun == MPI_REQUEST_NULL) {
        return;
    }
    if (what.call || what.received.order != 0) {
        what.serial = g_last_serial.fetch_add(1, std::memory_order_relaxed) + 1;
        open_requests::of_process().put(begun, std::move(what));
    } else if (!open_requests::is_empty()) {
        open_requests::of_process().take(begun);
    }
}

void remove(MPI_Request ended, std::uint64_t serial) noexcept {
    open_requests::of_process().remove_if(
        ended, [serial](const open_request& now) { return now.serial == serial; });
}

}  // namespace

/// A message has both a tag and a peer; a collective call may have a root.
shared_note share(const call_note& note, const known_comm* on) noexcept {
    using way = shared_note::way;
    shared_note result{.call = note.kind->name, .bytes = bytes_of_buffer(note)};
    const bool is_message = note.tag != call_note::k_none && note.peer != call_note::k_none;
    if (on != nullptr) {
        result.comm = on->where.context;
    }
    if (note.is_collective) {
        result.how = way::collective;
        result.place = note.place;
        result.root = note.peer == call_note::k_none ? shared_note::k_none : note.peer;
    } else if (is_message && on != nullptr) {
        const std::vector<int>& members = *on->where.peers;
        result.how = note.is_sent ? way::sent : way::received;
        result.tag = note.tag == MPI_ANY_TAG ? shared_note::k_any : note.tag;
        if (note.peer == MPI_ANY_SOURCE) {
            result.peer = shared_note::k_any;
        } else if (note.peer >= 0 && static_cast<std::size_t>(note.peer) < members.size()) {
            result.peer = members[static_cast<std::size_t>(note.peer)];
        } else {
            result.how = way::other;  // MPI_PROC_NULL
        }
    }
    return result;
}

void keep_request(MPI_Request begun, const call_note& what, posted_receive received) noexcept {
    open_request kept{.received = std::move(received)};
    if (is_watched()) {
        kept.call = share(what, find_known(what.comm));
    }
    keep(begun, std::move(kept));
}

void keep_request(MPI_Request begun, posted_receive received) noexcept {
    keep(begun, {.received = std::move(received)});
}

void ended_requests::find(int count, int wanted) {
    bool are_needed = false;
    for (int i = 0; i < count; ++i) {
        if (auto what = open_requests::of_process().get(m_requests[i])) {
            are_needed = are_needed || what->received.order != 0;
            m_found.push_back({i, m_requests[i], *std::move(what)});
        }
    }
    if (are_needed && (m_statuses == MPI_STATUS_IGNORE || m_statuses == MPI_STATUSES_IGNORE)) {
        m_own.resize(static_cast<std::size_t>(wanted));
    }
}

void ended_requests::forget_null() noexcept {
    for (const found& each : m_found) {
        if (m_requests[each.number] == MPI_REQUEST_NULL) {
            remove(each.request, each.what.serial);
        }
    }
}

const ended_requests::found* ended_requests::known(int request) const noexcept {
    const auto at =
        std::lower_bound(m_found.begin(), m_found.end(), request,
                         [](const found& each, int wanted) { return each.number < wanted; });
    return at != m_found.end() && at->number == request ? &*at : nullptr;
}

void ended_requests::end(int request, int status) noexcept {
    const found* const one = known(request);
    if (one != nullptr && one->what.received.order != 0) {
        tell(*one, statuses()[status]);
    }
}

void ended_requests::forget(int request) noexcept {
    if (const found* const one = known(request)) {
        remove(one->request, one->what.serial);
    }
}

void ended_requests::end_all(int code) noexcept {
    for (const found& each : m_found) {
        if (each.what.received.order == 0) {
            continue;
        }
        const MPI_Status& status = statuses()[each.number];
        if (code == MPI_SUCCESS || (code == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS)) {
            tell(each, status);
        }
    }
}

/// A persistent request that has ended is not null.
void ended_requests::tell(const found& ended, const MPI_Status& status) noexcept {
    remove(ended.request, ended.what.serial);
    if (are_messages_traced() && status.MPI_SOURCE != MPI_PROC_NULL && !is_cancelled(status)) {
        trace_receipt(ended.what.received, status, bytes_in(status));
    }
}

}  // namespace quern::mpi::detail
