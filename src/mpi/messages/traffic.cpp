// SPDX-License-Identifier: BSL-1.0
// Counts the messages of calls, and tells traces of them.
#include "messages/traffic.hpp"

#include "messages/find_channel.hpp"
#include "notes/call_counts.hpp"

#include <algorithm>

namespace quern::mpi::detail {

namespace {

constexpr auto k_relaxed = std::memory_order_relaxed;

}  // namespace

std::uint64_t bytes_of(const call_note& what) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes_of_buffer(what), 0));
}

void tell_sending(const call_note& what) noexcept {
    if (are_messages_traced() && what.peer != MPI_PROC_NULL) [[unlikely]] {
        trace_sending(find_channel(what.comm), what.peer, what.tag, bytes_of(what));
    }
}

void count_sent(const call_note& what) noexcept {
    if (what.peer != MPI_PROC_NULL) {
        g_traffic.sent.fetch_add(1, k_relaxed);
        g_traffic.bytes.fetch_add(bytes_of(what), k_relaxed);
    }
}

void has_received(const call_note& what, const MPI_Status& status,
                  const posted_receive& posted) noexcept {
    if (what.peer == MPI_PROC_NULL || status.MPI_SOURCE == MPI_PROC_NULL) {
        return;
    }
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    const auto known = static_cast<std::uint64_t>(std::max<MPI_Count>(bytes, 0));
    g_traffic.received.fetch_add(1, k_relaxed);
    g_traffic.bytes.fetch_add(known, k_relaxed);
    if (are_messages_traced()) [[unlikely]] {
        trace_receipt(posted, status, known);
    }
}

void count_started(bool is_sent, std::uint64_t bytes) noexcept {
    (is_sent ? g_traffic.sent : g_traffic.received).fetch_add(1, k_relaxed);
    g_traffic.bytes.fetch_add(bytes, k_relaxed);
}

void count_posted_receive(const call_note& what) noexcept {
    if (what.peer != MPI_PROC_NULL) {
        g_traffic.received.fetch_add(1, k_relaxed);
        g_traffic.bytes.fetch_add(bytes_of(what), k_relaxed);
    }
}

}  // namespace quern::mpi::detail
