// SPDX-License-Identifier: BSL-1.0
// How the calls of a task wait, for a stretch of it.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstdint>

namespace quern::mpi {

enum class waiting : std::uint8_t {
    /// A call that has not ended at once suspends its task, and workers look for its end: without
    /// pause for a while, then at intervals. On a thread that is no worker, and in the pool
    /// "communication", the thread looks for a millisecond, then sleeps with looks between. The
    /// default.
    adaptive,
    /// The caller looks without pause until the call has ended; a task is not suspended and keeps
    /// its worker. For many short calls in a row, after the first of them has made the partners
    /// meet.
    polling,
    /// A call that sends, receives or is collective suspends its task without a test, so that
    /// another one runs at once. A thread that is no worker sleeps at once.
    blocking,
};

/// During its lifetime the calls of MPI that the calling task or thread makes wait in that way.
/// Scopes nest. As MPI_set_waiting_mode of the thesis on MPI/OmpSs (5.2.2), but it ends by itself.
///
/// Errors: std::bad_alloc. Thread safety: destroyed by the task or thread that made it. Cost: an
/// allocation for the first one of a task; while there is a scope in the process, each call
/// searches the values of its task (task_local).
///
///     quern::post([] {
///         MPI_Barrier(MPI_COMM_WORLD);  // suspends the task until all have come
///         const quern::mpi::waiting_mode here(quern::mpi::waiting::polling);
///         for (int i = 0; i < 100; ++i) {
///             MPI_Barrier(MPI_COMM_WORLD);  // some microseconds each
///         }
///     });
class [[nodiscard]] waiting_mode {
public:
    explicit waiting_mode(waiting how);
    ~waiting_mode();
    waiting_mode(const waiting_mode&) = delete;
    waiting_mode& operator=(const waiting_mode&) = delete;

private:
    waiting m_before;
};

}  // namespace quern::mpi
