// SPDX-License-Identifier: BSL-1.0
// What the definitions of MPI's functions (generate_calls.py, handwritten_calls.cpp) are made of.
#pragma once

#include "calls/blocking_calls.hpp"
#include "library/interposed.hpp"
#include "messages/open_requests.hpp"
#include "notes/watched_job.hpp"
#include "progress/engine.hpp"
#include "progress/entrance_watch.hpp"
#include "progress/errors.hpp"

#include <mpi.h>

namespace quern::mpi::detail {

/// Static data of one of MPI's functions.
struct call_kind {
    explicit constexpr call_kind(const char* name) noexcept
        : wait{.name = name,
               .size = sizeof(waiting_operation),
               .look = look_at_operation,
               .is_passing = true,
               .is_call = true,
               .tell_apart = tell_operations_apart} {}
    quern::detail::wait_kind wait;
};

inline bool is_shared() noexcept { return engine::of_process().is_shared(); }

/// A blocking function, by its non-blocking twin.
inline int run_twin(const call_note& what, posted_operation::post_function post,
                    MPI_Status* status) noexcept {
    posted_operation one(what, post, status);
    return engine::of_process().run(one);
}

/// A collective function without any runtime, by its non-blocking twin: ranks with a runtime use
/// that too, and it does not match the blocking function.
template <class Post>
int run_alone(const call_note& what, Post post, MPI_Status* status = MPI_STATUS_IGNORE) {
    MPI_Request made = MPI_REQUEST_NULL;
    call_note noted = what;
    begin_collective(noted);
    int code = post(&made);
    if (code == MPI_SUCCESS) {
        {
            const returned_errors returned;
            code = next::Wait(&made, status);
        }
        raise_error(what, code);
    }
    return code;
}

/// A blocking function that sends or receives a message, by its twin.
int run_message(const call_note& what, posted_operation::post_function post,
                MPI_Status* status) noexcept;

/// A function that begins to send or to receive a message, and returns with a request.
int run_message_start(const call_note& what, plain_operation::call_function call,
                      const MPI_Request* made) noexcept;

/// A function that begins a collective operation, and returns with a request.
int run_collective_start(const call_note& what, plain_operation::call_function call,
                         const MPI_Request* made) noexcept;

/// Either of these by a thread that may call MPI: without any runtime, in a job that is watched.
/// `received`: of a receive that traces know.
int start_alone(const call_note& what, plain_operation::call_function call, const MPI_Request* made,
                posted_receive received = {});

/// A function that makes a persistent request of a message; also while no runtime lives.
int run_persistent(const call_note& what, plain_operation::call_function call,
                   const MPI_Request* made) noexcept;

/// A function that reads or writes a file, by its twin if the file's data are in the native
/// representation: else MPICH converts what has not been read yet. `call`: the blocking function.
int run_file(const call_note& what, posted_operation::post_function post,
             plain_operation::call_function call, MPI_Status* status) noexcept;

/// The same of a collective one, also while no runtime lives: as other collective functions.
int run_file_collective(const call_note& what, posted_operation::post_function post,
                        plain_operation::call_function call, MPI_Status* status) noexcept;

inline int run_attempts(const call_note& what,
                        attempted_operation::attempt_function attempt) noexcept {
    attempted_operation one(what, attempt);
    return engine::of_process().run(one);
}

/// Called when a test has found nothing: a place where the task may give way to others.
void after_vain_test() noexcept;

}  // namespace quern::mpi::detail
