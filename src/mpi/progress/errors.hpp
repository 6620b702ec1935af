// SPDX-License-Identifier: BSL-1.0
// Error handlers of calls that are made by their non-blocking twins. An error must reach the
// handler of the communicator of its own call, as in a blocking call. Open MPI's functions that
// test requests do so. MPICH's call the handler of MPI_COMM_WORLD, which ends the job by default,
// so errors are returned to this layer while it tests, and raised by it afterwards. (MPICH's
// MPI_Wait calls that of MPI_COMM_WORLD too: right for calls whose communicator is not known.)
#pragma once

#include "library/interposed.hpp"
#include "progress/fatal_errors.hpp"
#include "progress/inside.hpp"
#include "progress/operation.hpp"

#include <mpi.h>

namespace quern::mpi::detail {

#ifdef MPICH_VERSION
/// Whether tests of requests call the error handler of another communicator than the request's.
inline constexpr bool k_tests_mix_handlers = true;
#else
inline constexpr bool k_tests_mix_handlers = false;
#endif

/// Whether there is MPI_COMM_WORLD: a program may open only sessions.
inline bool has_world() noexcept {
    int is_initialized = 0;
    int is_finalized = 0;
    PMPI_Initialized(&is_initialized);
    PMPI_Finalized(&is_finalized);
    return is_initialized != 0 && is_finalized == 0;
}

/// While it lives, errors of tests are returned. Inside the entrance; it does nothing in a function
/// that a call beside the entrance has called, since another thread may do the same.
class returned_errors {
public:
    returned_errors() noexcept {
        if (m_is_on) {
            PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &m_before);
            PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        }
    }
    returned_errors(const returned_errors&) = delete;
    returned_errors& operator=(const returned_errors&) = delete;
    ~returned_errors() {
        if (m_is_on) {
            PMPI_Comm_set_errhandler(MPI_COMM_WORLD, m_before);
            PMPI_Errhandler_free(&m_before);
        }
    }

private:
    const bool m_is_on = k_tests_mix_handlers && !is_within_call_beside() && has_world();
    MPI_Errhandler m_before = MPI_ERRHANDLER_NULL;
};

/// Calls the error handler of a call that a test has ended with an error, unless that has been
/// done. Inside the entrance. What that handler throws ends the process (run_inside).
/// `cause`: the error that words name.
inline void raise_error(const call_note& note, int code, int cause) {
    if (!k_tests_mix_handlers || code == MPI_SUCCESS || is_within_call_beside()) {
        return;
    }
    if (note.file != MPI_FILE_NULL) {
        PMPI_File_call_errhandler(note.file, code);
    } else {
        const MPI_Comm comm =
            note.comm != MPI_COMM_NULL || !has_world() ? note.comm : MPI_COMM_WORLD;
        if (comm != MPI_COMM_NULL) {
            say_if_fatal(note, cause);
            PMPI_Comm_call_errhandler(comm, code);
        }
    }
}
inline void raise_error(const call_note& note, int code) { raise_error(note, code, code); }

/// Calls a function that begins to read or write a file. Its errors reach the handler of the file
/// once: MPICH's non-blocking functions call it for some errors and only return others, such as
/// reading a file that was opened for writing. So they are returned meanwhile, and raised here.
template <class Begin>
int begin_on_file(const call_note& note, Begin begin) {
    if (!k_tests_mix_handlers || note.file == MPI_FILE_NULL || is_within_call_beside()) {
        return begin();
    }
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    PMPI_File_get_errhandler(note.file, &before);
    PMPI_File_set_errhandler(note.file, MPI_ERRORS_RETURN);
    const int code = begin();
    PMPI_File_set_errhandler(note.file, before);
    PMPI_Errhandler_free(&before);
    raise_error(note, code);
    return code;
}

/// MPI_Test for a request of a call. Inside the entrance.
inline int test_request(const call_note& note, MPI_Request& request, int& is_done,
                        MPI_Status* status) {
    const int code = [&] {
        const returned_errors returned;
        return next::Test(&request, &is_done, status);
    }();
    raise_error(note, code);
    return code;
}

}  // namespace quern::mpi::detail
