// SPDX-License-Identifier: BSL-1.0
// What several of MPI's functions share.
#include "calls/calls.hpp"

#include "messages/message_trace.hpp"
#include "messages/traffic.hpp"
#include "progress/pools.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/task/this_task.hpp>

#include <sched.h>
#include <utility>

namespace quern::mpi::detail {

int run_message(const call_note& what, posted_operation::post_function post,
                MPI_Status* status) noexcept {
    if (what.way == message_way::sent) {
        tell_sending(what);
        const int code = run_twin(what, post, status);
        if (code == MPI_SUCCESS) {
            count_sent(what);
        }
        return code;
    }
    received_status seen(status);
    const posted_receive posted = begin_receive(what);
    const int code = run_twin(what, post, seen.get());
    if (code == MPI_SUCCESS) {
        has_received(what, *seen.get(), posted);
    }
    return code;
}

int start_alone(const call_note& what, plain_operation::call_function call, const MPI_Request* made,
                posted_receive received) {
    call_note noted = what;
    begin_collective(noted);
    if (what.way == message_way::received && is_shared()) {
        prepare_errors(what.comm);
    }
    const int code = call();
    const bool is_wanted = is_watched() || received.order != 0 || !open_requests::is_empty();
    if (code == MPI_SUCCESS && is_wanted) [[unlikely]] {
        keep_request(*made, noted, std::move(received));
    }
    return code;
}

int run_collective_start(const call_note& what, plain_operation::call_function call,
                         const MPI_Request* made) noexcept {
    return run_plain(what, [&] { return start_alone(what, call, made); });
}

int run_message_start(const call_note& what, plain_operation::call_function call,
                      const MPI_Request* made) noexcept {
    if (what.way == message_way::sent) {
        tell_sending(what);
    }
    const bool is_received = what.way == message_way::received && what.peer != MPI_PROC_NULL;
    posted_receive posted = is_received ? begin_receive(what) : posted_receive{};
    const int code =
        run_plain(what, [&] { return start_alone(what, call, made, std::move(posted)); });
    if (code == MPI_SUCCESS) {
        what.way == message_way::sent ? count_sent(what) : count_posted_receive(what);
    }
    return code;
}

/// Tasks that test in turns keep all workers busy, so the caller looks for them. A task of the pool
/// "communication" gives way only to other threads: tasks there run one after the other.
void after_vain_test() noexcept {
    if (quern::detail::current_context() == nullptr) {
        return;
    }
    engine::of_process().look();
    if (poller_here() != nullptr) {
        quern::this_task::yield();
    } else {
        ::sched_yield();
    }
}

}  // namespace quern::mpi::detail
