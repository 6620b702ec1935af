// SPDX-License-Identifier: BSL-1.0
// Writes the words of a failed call, and replaces fatal error handlers of Open MPI.
#include "progress/fatal_errors.hpp"

#include "progress/engine.hpp"

#include <cstdio>
#include <exception>
#include <string>

namespace quern::mpi::detail {

namespace {

std::string words_of(int code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    return PMPI_Error_string(code, text, &length) == MPI_SUCCESS ? std::string(text)
                                                                 : "error " + std::to_string(code);
}

bool is_fatal(MPI_Comm comm) noexcept {
    MPI_Errhandler present = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(comm, &present);
    const bool found = present == MPI_ERRORS_ARE_FATAL;
    PMPI_Errhandler_free(&present);
    return found;
}

}  // namespace

void say_failure(const call_note& note, int code) noexcept try {
    call_note known = note;
    complete_note(known);
    const std::string who = note.task == nullptr   ? ""
                            : note.task[0] == '\0' ? ", in a task,"
                                                   : ", in task '" + std::string(note.task) + "',";
    std::fprintf(stderr, "quern: %s%s has failed: %s\n", describe(known).c_str(), who.c_str(),
                 words_of(code).c_str());
} catch (const std::exception&) {
    return;  // no memory for words
}

void say_if_fatal(const call_note& note, int code) noexcept {
    if (is_fatal(note.comm != MPI_COMM_NULL ? note.comm : MPI_COMM_WORLD)) {
        say_failure(note, code);
    }
}

#ifdef MPICH_VERSION

void prepare_errors(MPI_Comm) noexcept {}
void restore_errors(MPI_Comm) noexcept {}

#else

namespace {

MPI_Errhandler g_handler = MPI_ERRHANDLER_NULL;
MPI_Comm g_prepared = MPI_COMM_NULL;  ///< the last one; it need not be looked at again

/// In place of MPI_ERRORS_ARE_FATAL.
void end_with_words(MPI_Comm* comm, int* code, ...) {
    engine::of_process().say_failed(*code);
    PMPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_call_errhandler(*comm, *code);
}

}  // namespace

void prepare_errors(MPI_Comm on) noexcept {
    if (on == g_prepared || on == MPI_COMM_NULL) {
        return;
    }
    g_prepared = on;
    if (!is_fatal(on)) {
        return;
    }
    if (g_handler == MPI_ERRHANDLER_NULL) {
        PMPI_Comm_create_errhandler(end_with_words, &g_handler);
    }
    PMPI_Comm_set_errhandler(on, g_handler);
}

void restore_errors(MPI_Comm of) noexcept {
    if (g_handler == MPI_ERRHANDLER_NULL || of == MPI_COMM_NULL) {
        return;
    }
    MPI_Errhandler present = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(of, &present);
    if (present == g_handler) {
        PMPI_Comm_set_errhandler(of, MPI_ERRORS_ARE_FATAL);
        g_prepared = MPI_COMM_NULL;
    }
    PMPI_Errhandler_free(&present);
}

#endif

}  // namespace quern::mpi::detail
