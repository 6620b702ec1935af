// SPDX-License-Identifier: BSL-1.0
// The restart mechanism: a task whose messages have not come is abandoned and begins again later.
#pragma once

#include <quern/base/detail/config.hpp>

#include <mpi.h>
#include <span>

namespace quern::mpi {

/// Returns if all requests have ended. Otherwise it depends on the setting mpi-mechanism. With
/// `restart` the function of the running task is left by an exception, the task is queued again
/// behind one ready task, without its rank and urgency, and its function is called again from the
/// beginning. With another mechanism it waits, as MPI_Waitall does.
///
/// So what the function does before this call is done several times, and it must be done only once
/// where that matters: the requests live outside of the function, or in the captures of a mutable
/// lambda, and it begins an operation only if it has not begun it yet. Nothing that has been
/// received is lost. The exception has no type of its own that programs could name; a function that
/// catches `...` must throw it on. Task-local values are destroyed.
///
/// While no task but such ones ends, a task pauses before it restarts: after 1 ms, for a sixteenth
/// of the time that has passed without an end, at most 1 ms. Counted in /mpi/count/restarts.
///
/// `statuses`: null, or one for each request. Errors: with `restart`, std::logic_error that says
/// why if the task cannot begin again: the caller is not a task of a quern::domain, or the task has
/// spawned children, is held (mpi::bind), has released accesses or takes part in a reduction.
/// std::invalid_argument for another number of statuses; mpi::error if MPI returns one.
/// Source: Marjanovic's thesis on MPI/OmpSs, 5.2.1.
///
///     quern::domain work;
///     int got = 0;
///     work.spawn(quern::out(got), [request = MPI_REQUEST_NULL](int& to) mutable {
///         if (request == MPI_REQUEST_NULL) {
///             MPI_Irecv(&to, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
///         }
///         quern::mpi::wait_or_restart(request);
///     });
///     work.spawn(quern::in(got), [](const int& g) { std::printf("%d\n", g); });
///     work.taskwait();
void wait_or_restart(std::span<MPI_Request> requests, std::span<MPI_Status> statuses = {});
inline void wait_or_restart(MPI_Request& request) {
    mpi::wait_or_restart(std::span<MPI_Request>(&request, 1));
}
inline void wait_or_restart(MPI_Request& request, MPI_Status& status) {
    mpi::wait_or_restart(std::span<MPI_Request>(&request, 1), std::span<MPI_Status>(&status, 1));
}

}  // namespace quern::mpi
