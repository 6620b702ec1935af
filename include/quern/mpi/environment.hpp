// SPDX-License-Identifier: BSL-1.0
// Initialising and finalising MPI so that tasks may call it.
#pragma once

#include <mpi.h>

namespace quern::mpi {

/// MPI, from construction to destruction. MPI_Init and MPI_Init_thread do the same: with this layer
/// linked, they ask the library for at least MPI_THREAD_SERIALIZED.
///
///     int main(int argc, char** argv) {
///         quern::mpi::environment world(argc, argv);
///         quern::async([&] { MPI_Barrier(MPI_COMM_WORLD); }).get();  // suspends the task only
///     }
///
/// Errors: std::runtime_error if MPI was initialised or finalised before, or if the library has no
/// threads. Thread safety: made and destroyed by the main thread, outside of tasks.
class environment {
public:
    environment(int& argc, char**& argv);
    /// Finalises MPI. If operations are outstanding, names them and ends the job. An exception that
    /// leaves the scope leaves MPI as it is, since the other ranks may wait for this one: once the
    /// process has ended, the starter ends the job.
    ~environment();
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;

    /// In MPI_COMM_WORLD.
    int rank() const noexcept { return m_rank; }
    int size() const noexcept { return m_size; }
    /// MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE.
    int level() const noexcept { return m_level; }

private:
    int m_rank = 0;
    int m_size = 1;
    int m_level = MPI_THREAD_SINGLE;
    int m_exceptions;  ///< in flight when it was made
};

}  // namespace quern::mpi
