// SPDX-License-Identifier: BSL-1.0
// Tables from requests and messages to what must be told when they end.
#include "message_trace.hpp"

#include "traffic.hpp"

#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace quern::mpi::detail {

namespace {

constexpr auto k_relaxed = std::memory_order_relaxed;

/// Handles to what is known of them. A later one with the same handle replaces it. Lives as long as
/// the process.
template <class Handle, class What>
class handle_table {
public:
    void put(Handle handle, What what) noexcept {
        const std::scoped_lock lock(m_lock);
        m_all.insert_or_assign(handle, std::move(what));
        m_size.store(m_all.size(), k_relaxed);
    }

    std::optional<What> get(Handle handle) noexcept {
        const std::scoped_lock lock(m_lock);
        const auto at = m_all.find(handle);
        return at != m_all.end() ? std::optional<What>(at->second) : std::nullopt;
    }

    std::optional<What> take(Handle handle) noexcept {
        return take_if(handle, [](const What&) { return true; });
    }

    template <class Condition>
    std::optional<What> take_if(Handle handle, Condition condition) noexcept {
        std::optional<What> taken;
        const std::scoped_lock lock(m_lock);
        if (const auto at = m_all.find(handle); at != m_all.end() && condition(at->second)) {
            taken = std::move(at->second);
            m_all.erase(at);
            m_size.store(m_all.size(), k_relaxed);
        }
        return taken;
    }

    bool is_empty() const noexcept { return m_size.load(k_relaxed) == 0; }
    std::atomic<std::uint64_t>& size() noexcept { return m_size; }

private:
    quern::detail::spin_lock m_lock;
    std::unordered_map<Handle, What> m_all;
    std::atomic<std::uint64_t> m_size{0};
};

struct message_tables {
    handle_table<MPI_Request, posted_receive> receives;
    handle_table<MPI_Message, posted_receive> found;
    handle_table<MPI_Request, persistent_message> persistent;
};

message_tables& tables() noexcept {
    static message_tables& all =
        *new message_tables;  // NOLINT(bugprone-unhandled-exception-at-new)
    return all;
}

std::atomic<std::uint64_t> g_posted{0};

/// The place of a message among those that this process posts; taken before it is posted.
std::uint64_t order_of_posting() noexcept { return g_posted.fetch_add(1, k_relaxed) + 1; }

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

void tell_of_sending(const channel& where, int peer, int tag, std::uint64_t bytes) noexcept {
    trace::tell_message({.is_sent = true,
                         .peer = where.world_rank(peer),
                         .tag = tag,
                         .bytes = bytes,
                         .context = where.context,
                         .order = order_of_posting()});
}

}  // namespace

void trace_sending(const call_note& what, std::uint64_t bytes) noexcept {
    tell_of_sending(find_channel(what.comm), what.peer, what.tag, bytes);
}

/// A message that a probe has found has been matched there.
posted_receive begin_receive(const call_note& what) noexcept {
    if (!are_messages_traced()) {
        return {};
    }
    if (what.message != MPI_MESSAGE_NULL) {
        if (auto found = tables().found.take(what.message)) {
            return *std::move(found);
        }
    }
    return {find_channel(what.comm), order_of_posting()};
}

void trace_receipt(const posted_receive& what, const MPI_Status& status,
                   std::uint64_t bytes) noexcept {
    trace::tell_message({.is_sent = false,
                         .peer = what.where.world_rank(status.MPI_SOURCE),
                         .tag = status.MPI_TAG,
                         .bytes = bytes,
                         .context = what.where.context,
                         .order = what.order});
}

void keep_receive(MPI_Request request, posted_receive what) noexcept {
    tables().receives.put(request, std::move(what));
}

void forget_receive(MPI_Request request) noexcept {
    if (!tables().receives.is_empty()) {
        tables().receives.take(request);
    }
}

void keep_found_message(MPI_Message message, MPI_Comm comm) noexcept {
    tables().found.put(message, {find_channel(comm), order_of_posting()});
}

void keep_persistent(MPI_Request request, persistent_message what) noexcept {
    tables().persistent.put(request, std::move(what));
}

void start_persistent(MPI_Request request) noexcept {
    const std::optional<persistent_message> what =
        tables().persistent.is_empty() ? std::nullopt : tables().persistent.get(request);
    if (!what || what->peer == MPI_PROC_NULL) {
        return;
    }
    count_started(what->is_sent, what->bytes);
    if (!are_messages_traced()) {
        forget_receive(request);
    } else if (what->is_sent) {
        tell_of_sending(what->where, what->peer, what->tag, what->bytes);
    } else {
        tables().receives.put(request, {what->where, order_of_posting()});
    }
}

void forget_persistent(MPI_Request request) noexcept {
    if (!tables().persistent.is_empty()) {
        tables().persistent.take(request);
    }
}

std::atomic<std::uint64_t>& awaited_receives::kept() noexcept { return tables().receives.size(); }

void awaited_receives::find(int count, const MPI_Request* requests, int wanted) {
    for (int i = 0; i < count; ++i) {
        if (auto what = tables().receives.get(requests[i])) {
            m_found.push_back({i, requests[i], *std::move(what)});
        }
    }
    if (!m_found.empty() &&
        (m_statuses == MPI_STATUS_IGNORE || m_statuses == MPI_STATUSES_IGNORE)) {
        m_own.resize(static_cast<std::size_t>(wanted));
    }
}

void awaited_receives::end_all(int code) noexcept {
    for (const found& each : m_found) {
        const MPI_Status& status = statuses()[each.number];
        if (code == MPI_SUCCESS || (code == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS)) {
            tell(each.number, status);
        }
    }
}

void awaited_receives::tell(int request, const MPI_Status& status) noexcept {
    const auto at =
        std::lower_bound(m_found.begin(), m_found.end(), request,
                         [](const found& each, int wanted) { return each.number < wanted; });
    if (at == m_found.end() || at->number != request) {
        return;
    }
    const auto is_same = [&](const posted_receive& now) { return now.order == at->what.order; };
    if (tables().receives.take_if(at->request, is_same) && are_messages_traced() &&
        status.MPI_SOURCE != MPI_PROC_NULL && !is_cancelled(status)) {
        trace_receipt(at->what, status, bytes_in(status));
    }
}

}  // namespace quern::mpi::detail
