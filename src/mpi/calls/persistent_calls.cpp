// SPDX-License-Identifier: BSL-1.0
// Persistent requests: what they send or receive is known from where they are made, so that it can
// be counted and told where they are started.
#include "calls/calls.hpp"
#include "messages/handle_table.hpp"
#include "messages/message_trace.hpp"
#include "messages/open_requests.hpp"
#include "messages/traffic.hpp"

#include <optional>
#include <utility>

namespace quern::mpi::detail {

namespace {

/// What MPI_Start will send or receive. Kept always: it may be started later, while a trace is
/// recorded.
struct persistent_message {
    bool is_sent = false;
    int peer = MPI_PROC_NULL;
    int tag = 0;
    std::uint64_t bytes = 0;
    channel where{};
};
using persistent_messages = handle_table<MPI_Request, persistent_message>;

/// It is started: counts and tells its message.
void start_persistent(MPI_Request request) noexcept {
    std::optional<persistent_message> what = persistent_messages::is_empty()
                                                 ? std::nullopt
                                                 : persistent_messages::of_process().get(request);
    if (!what || what->peer == MPI_PROC_NULL) {
        return;
    }
    count_started(what->is_sent, what->bytes);
    if (!what->is_sent) {
        keep_request(request, begin_receive(std::move(what->where)));
    } else if (are_messages_traced()) {
        trace_sending(what->where, what->peer, what->tag, what->bytes);
    }
}

}  // namespace

int run_persistent(const call_note& what, plain_operation::call_function call,
                   const MPI_Request* made) noexcept {
    const auto post = [&] {
        const int code = call();
        if (code == MPI_SUCCESS) {
            keep_request(*made, posted_receive{});  // the handle may have been another request's
            persistent_messages::of_process().put(*made, {.is_sent = what.way == message_way::sent,
                                                          .peer = what.peer,
                                                          .tag = what.tag,
                                                          .bytes = bytes_of(what),
                                                          .where = channel_of(what.comm)});
        }
        return code;
    };
    return is_shared() ? run_plain(what, post) : post();
}

}  // namespace quern::mpi::detail

using namespace quern::mpi::detail;

extern "C" {

int MPI_Request_free(MPI_Request* request) {
    const ended_requests here(1, request, MPI_STATUS_IGNORE, 0);
    if (!persistent_messages::is_empty()) {
        persistent_messages::of_process().take(*request);
    }
    if (!is_shared()) {
        return next::Request_free(request);
    }
    static constexpr call_kind kind{"MPI_Request_free"};
    return run_plain({.kind = &kind.wait}, [&] { return next::Request_free(request); });
}

int MPI_Start(MPI_Request* request) {
    note_unknown_call("MPI_Start");
    if (!is_shared()) {
        return next::Start(request);
    }
    static constexpr call_kind kind{"MPI_Start"};
    start_persistent(*request);
    return run_plain({.kind = &kind.wait}, [&] { return next::Start(request); });
}

int MPI_Startall(int count, MPI_Request* requests) {
    note_unknown_call("MPI_Startall");
    if (!is_shared()) {
        return next::Startall(count, requests);
    }
    static constexpr call_kind kind{"MPI_Startall"};
    for (int i = 0; i < count; ++i) {
        start_persistent(requests[i]);
    }
    return run_plain({.kind = &kind.wait}, [&] { return next::Startall(count, requests); });
}

}  // extern "C"
