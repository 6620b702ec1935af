// SPDX-License-Identifier: BSL-1.0
// Requests whose ends nothing need wait for: as futures, and bound to the running task.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/task/future.hpp>

#include <mpi.h>
#include <span>
#include <stdexcept>

namespace quern::mpi {

/// What MPI returned instead of MPI_SUCCESS, where the error handler of the communicator (with
/// MPICH, that of MPI_COMM_WORLD) returns.
class error : public std::runtime_error {
public:
    explicit error(int code);
    int code() const noexcept { return m_code; }

private:
    int m_code;
};

/// A future of the end of a request. Takes the request: the program must not use it any more,
/// unless it is persistent and has ended. MPI_REQUEST_NULL gives a ready future with an empty
/// status.
///
/// Errors: the future has an `error`; std::bad_alloc. Thread safety: any thread. It needs a
/// runtime, whose workers look for the end; without one it makes the default runtime. Cost: an
/// allocation, and an entry in the table of requests.
///
///     int answer = 0;
///     MPI_Request request;
///     MPI_Irecv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
///     quern::future<int> sender = quern::mpi::async(request).then(
///         [](quern::future<MPI_Status> got) { return got.get().MPI_SOURCE; });
future<MPI_Status> async(MPI_Request request);

/// Binds the ends of requests to the calling task: it is complete when its function has returned
/// and all of them have ended. A dependent task keeps its accesses until then, so tasks that wait
/// for them begin after the messages have arrived, and this one needs neither a stack nor a worker
/// meanwhile. Takes the requests as async() does.
///
/// `statuses`: null, or one for each request, which must live until its end; MPI_ERROR is always
/// set. Errors of MPI are told only there. std::logic_error if the caller is no task, or is a
/// coroutine; std::invalid_argument for another number of statuses; std::bad_alloc. Cost: as async.
///
///     quern::domain work;
///     int halo = 0;
///     work.spawn(quern::out(halo), [](int& h) {
///         MPI_Request request;
///         MPI_Irecv(&h, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
///         quern::mpi::bind(request);
///     });
///     work.spawn(quern::in(halo), [](const int& h) { std::printf("%d\n", h); });
///     work.taskwait();
void bind(std::span<const MPI_Request> requests, std::span<MPI_Status> statuses = {});
inline void bind(MPI_Request request) { mpi::bind(std::span<const MPI_Request>(&request, 1)); }

}  // namespace quern::mpi
