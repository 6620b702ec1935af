// SPDX-License-Identifier: BSL-1.0
// Numbers the messages that this rank posts, and tells the recorder of traces.
#include "messages/message_trace.hpp"

#include "messages/find_channel.hpp"
#include "messages/handle_table.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace quern::mpi::detail {

namespace {

using found_messages = handle_table<MPI_Message, posted_receive>;

std::atomic<std::uint64_t> g_posted{0};

/// The place of a message among those that this process posts; taken before it is posted.
std::uint64_t order_of_posting() noexcept {
    return g_posted.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Messages of MPI match by their order.
std::uint64_t unnumbered(std::uint64_t context) noexcept {
    return context & ~trace::k_numbered_messages;
}

}  // namespace

void trace_sending(const channel& where, int peer, int tag, std::uint64_t bytes) noexcept {
    trace::tell_message({.is_sent = true,
                         .peer = where.world_rank(peer),
                         .tag = tag,
                         .bytes = bytes,
                         .context = unnumbered(where.context),
                         .order = order_of_posting()});
}

/// A message that a probe has found has been matched there.
posted_receive begin_receive(const call_note& what) noexcept {
    if (!are_messages_traced()) {
        return {};
    }
    if (what.message != MPI_MESSAGE_NULL) {
        if (auto found = found_messages::of_process().take(what.message)) {
            return *std::move(found);
        }
    }
    return begin_receive(find_channel(what.comm));
}

posted_receive begin_receive(channel where) noexcept {
    return are_messages_traced() ? posted_receive{std::move(where), order_of_posting()}
                                 : posted_receive{};
}

void trace_receipt(const posted_receive& what, const MPI_Status& status,
                   std::uint64_t bytes) noexcept {
    trace::tell_message({.is_sent = false,
                         .peer = what.where.world_rank(status.MPI_SOURCE),
                         .tag = status.MPI_TAG,
                         .bytes = bytes,
                         .context = unnumbered(what.where.context),
                         .order = what.order});
}

void keep_found_message(MPI_Message message, MPI_Comm comm) noexcept {
    found_messages::of_process().put(message, begin_receive(find_channel(comm)));
}

}  // namespace quern::mpi::detail
