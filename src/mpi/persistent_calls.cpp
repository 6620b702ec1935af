// SPDX-License-Identifier: BSL-1.0
// Persistent requests: what they send or receive is known from where they are made, so that it can
// be counted and told where they are started.
#include "calls.hpp"
#include "message_trace.hpp"
#include "traffic.hpp"

namespace quern::mpi::detail {

int run_persistent(const call_note& what, plain_operation::call_function call,
                   const MPI_Request* made) noexcept {
    const auto post = [&] {
        const int code = call();
        if (code == MPI_SUCCESS) {
            keep_persistent(*made, {.is_sent = what.way == message_way::sent,
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
    const ended_requests here(request);
    forget_receive(*request);
    forget_persistent(*request);
    if (!is_shared()) {
        return PMPI_Request_free(request);
    }
    static constexpr call_kind kind{"MPI_Request_free"};
    return run_plain({.kind = &kind.wait}, [&] { return PMPI_Request_free(request); });
}

int MPI_Start(MPI_Request* request) {
    note_unknown_call("MPI_Start");
    if (!is_shared()) {
        return PMPI_Start(request);
    }
    static constexpr call_kind kind{"MPI_Start"};
    start_persistent(*request);
    return run_plain({.kind = &kind.wait}, [&] { return PMPI_Start(request); });
}

int MPI_Startall(int count, MPI_Request* requests) {
    note_unknown_call("MPI_Startall");
    if (!is_shared()) {
        return PMPI_Startall(count, requests);
    }
    static constexpr call_kind kind{"MPI_Startall"};
    for (int i = 0; i < count; ++i) {
        start_persistent(requests[i]);
    }
    return run_plain({.kind = &kind.wait}, [&] { return PMPI_Startall(count, requests); });
}

}  // extern "C"
