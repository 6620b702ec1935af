// SPDX-License-Identifier: BSL-1.0
#include "traffic.hpp"

#include "engine.hpp"

#include <quern/trace/events.hpp>

#include <algorithm>

namespace quern::mpi::detail {

traffic_counts g_traffic;

namespace {

constexpr auto k_relaxed = std::memory_order_relaxed;

std::uint64_t bytes_of(const call_note& what) noexcept {
    int size = 0;
    if (what.count <= 0 || what.type == MPI_DATATYPE_NULL) {
        return 0;
    }
    PMPI_Type_size(what.type, &size);
    return static_cast<std::uint64_t>(what.count) *
           static_cast<std::uint64_t>(std::max(size, 0));  // MPI_UNDEFINED: above 2 GiB
}

/// The number in MPI_COMM_WORLD of a rank of the communicator, in the entrance. The rank itself if
/// it has none there.
int translate(MPI_Comm comm, int rank) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    MPI_Group here = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    is_inter != 0 ? PMPI_Comm_remote_group(comm, &here) : PMPI_Comm_group(comm, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    int found = MPI_UNDEFINED;
    PMPI_Group_translate_ranks(here, 1, &rank, world, &found);
    PMPI_Group_free(&here);
    PMPI_Group_free(&world);
    return found == MPI_UNDEFINED ? rank : found;
}

/// Messages are told with ranks of MPI_COMM_WORLD.
int world_rank(MPI_Comm comm, int rank) noexcept {
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_NULL) {
        return rank;
    }
    static constexpr quern::detail::wait_kind kind{"a rank of MPI_COMM_WORLD"};
    int found = rank;
    plain_operation one({.kind = &kind}, [&] {
        found = translate(comm, rank);
        return MPI_SUCCESS;
    });
    engine::of_process().run(one);
    return found;
}

void tell(const call_note& what, bool is_sent, int peer, int tag, std::uint64_t bytes) noexcept {
    if (trace::is_wanted(trace::event_kind::message)) [[unlikely]] {
        trace::tell_message(
            {.is_sent = is_sent, .peer = world_rank(what.comm, peer), .tag = tag, .bytes = bytes});
    }
}

}  // namespace

void count_wait(quern::detail::tick_count waited, quern::detail::tick_count idle) noexcept {
    g_traffic.suspended.fetch_add(1, k_relaxed);
    g_traffic.waiting_ticks.fetch_add(waited, k_relaxed);
    g_traffic.hidden_ticks.fetch_add(waited - std::min(idle, waited), k_relaxed);
}

void tell_sending(const call_note& what) noexcept {
    if (what.peer != MPI_PROC_NULL) {
        tell(what, true, what.peer, what.tag, bytes_of(what));
    }
}

void count_sent(const call_note& what) noexcept {
    if (what.peer != MPI_PROC_NULL) {
        g_traffic.sent.fetch_add(1, k_relaxed);
        g_traffic.bytes.fetch_add(bytes_of(what), k_relaxed);
    }
}

void has_received(const call_note& what, const MPI_Status& status) noexcept {
    if (what.peer == MPI_PROC_NULL || status.MPI_SOURCE == MPI_PROC_NULL) {
        return;
    }
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    const auto known = static_cast<std::uint64_t>(std::max<MPI_Count>(bytes, 0));
    g_traffic.received.fetch_add(1, k_relaxed);
    g_traffic.bytes.fetch_add(known, k_relaxed);
    tell(what, false, status.MPI_SOURCE, status.MPI_TAG, known);
}

void count_posted_receive(const call_note& what) noexcept {
    if (what.peer != MPI_PROC_NULL) {
        g_traffic.received.fetch_add(1, k_relaxed);
        g_traffic.bytes.fetch_add(bytes_of(what), k_relaxed);
    }
}

}  // namespace quern::mpi::detail
