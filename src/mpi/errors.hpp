// SPDX-License-Identifier: BSL-1.0
// Error handlers while the engine looks at requests of several communicators at once. An error must
// reach the handler of the communicator of its own call, as in a blocking call. Open MPI's
// MPI_Testsome does so. MPICH's calls the handler of MPI_COMM_WORLD, which ends the job by default,
// so errors are returned to the engine while it looks, and raised by it afterwards. (MPICH's
// MPI_Wait calls that of MPI_COMM_WORLD too: right for calls whose communicator is not known.)
#pragma once

#include "operation.hpp"

#include <mpi.h>

namespace quern::mpi::detail {

#ifdef MPICH_VERSION
/// Whether MPI_Testsome calls the error handler of another communicator than the request's.
inline constexpr bool k_testsome_mixes_handlers = true;
#else
inline constexpr bool k_testsome_mixes_handlers = false;
#endif

/// While it lives, errors of MPI_Testsome are returned. Inside the entrance.
class returned_errors {
public:
    returned_errors() noexcept {
        if (k_testsome_mixes_handlers) {
            PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &m_before);
            PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        }
    }
    returned_errors(const returned_errors&) = delete;
    returned_errors& operator=(const returned_errors&) = delete;
    ~returned_errors() {
        if (k_testsome_mixes_handlers) {
            PMPI_Comm_set_errhandler(MPI_COMM_WORLD, m_before);
            PMPI_Errhandler_free(&m_before);
        }
    }

private:
    MPI_Errhandler m_before = MPI_ERRHANDLER_NULL;
};

/// Calls the error handler of a call that MPI_Testsome has ended with an error, unless that has
/// been done. Inside the entrance.
inline void raise_error(const call_note& note, int code) noexcept {
    if (k_testsome_mixes_handlers && code != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(note.comm != MPI_COMM_NULL ? note.comm : MPI_COMM_WORLD, code);
    }
}

}  // namespace quern::mpi::detail
