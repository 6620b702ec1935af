// SPDX-License-Identifier: BSL-1.0
// Initialising and ending: MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Abort, and the class.
#include <quern/mpi/environment.hpp>

#include "calls/calls.hpp"
#include "job/job_clock.hpp"
#include "job/job_watch.hpp"
#include "library/fortran.hpp"
#include "library/mechanism.hpp"
#include "notes/communicators.hpp"
#include "progress/entrance_watch.hpp"

#include <quern/scheduler/detail/foreign_threads.hpp>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace {

using quern::mpi::detail::engine;
namespace next = quern::mpi::detail::next;

/// The threads of the process, as the kernel lists them.
std::set<pid_t> present_threads() {
    std::set<pid_t> all;
    std::error_code failed;
    for (std::filesystem::directory_iterator each("/proc/self/task", failed), end;
         !failed && each != end; each.increment(failed)) {
        all.insert(static_cast<pid_t>(std::strtol(each->path().filename().c_str(), nullptr, 10)));
    }
    return all;
}

/// Threads that the MPI library starts wake no task: workers find the ends of operations, which
/// hang reports know as outstanding. They live until MPI is finalised or longer.
void mark_threads_since(const std::set<pid_t>& before) {
    for (const pid_t each : present_threads()) {
        if (!before.contains(each)) {
            quern::detail::declare_harmless(each);
        }
    }
}

#ifdef MPICH_VERSION
/// For the end: no call of the program meets it. Null: there is one rank.
MPI_Comm g_end_comm = MPI_COMM_NULL;

void prepare_end() {
    int ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &g_end_comm);
    }
}

/// A connection of UCX over TCP is closed only while both of its ranks are in MPI's progress, and a
/// rank of MPICH 4.0 that has closed its own leaves that in MPI_Finalize. So all begin together: 9
/// of 12 jobs whose ranks came at different times hung, and 0 of 25 whose ranks had met. The first
/// wait may be long, so it sleeps.
void meet_at_end() {
    if (g_end_comm == MPI_COMM_NULL) {
        return;
    }
    MPI_Request all_are_here = MPI_REQUEST_NULL;
    int has_ended = 0;
    PMPI_Ibarrier(g_end_comm, &all_are_here);
    while (PMPI_Test(&all_are_here, &has_ended, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           has_ended == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    PMPI_Barrier(g_end_comm);
}

/// The starter of MPICH 4.0 ends a job that aborts without reading what lies in its ranks' pipes:
/// of 80 jobs on a loaded machine 6 lost the words that said why. A rank waits here until they have
/// been read, at most 0.5 s.
void wait_until_words_are_read() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat what {};
        if (::fstat(file, &what) != 0 || !S_ISFIFO(what.st_mode)) {
            continue;
        }
        int unread = 0;
        while (::ioctl(file, FIONREAD, &unread) == 0 && unread > 0 &&
               std::chrono::steady_clock::now() < limit) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
}
#else
void prepare_end() {}
void meet_at_end() {}
void wait_until_words_are_read() {}
#endif

int initialise(int* argc, char*** argv, int required, int& provided) {
    quern::mpi::detail::take_fortran_calls();
    const int wanted = std::max(required, quern::mpi::detail::wanted_level());
    const std::set<pid_t> before = present_threads();
    const int code = next::Init_thread(argc, argv, wanted, &provided);
    mark_threads_since(before);
    provided = quern::mpi::detail::note_level(wanted, provided);
    if (code == MPI_SUCCESS) {
        prepare_end();
        quern::mpi::detail::begin_numbering();
        quern::mpi::detail::join_job();
        quern::mpi::detail::watch_job();
    }
    return code;
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int provided = MPI_THREAD_SINGLE;
    return initialise(argc, argv, MPI_THREAD_SINGLE, provided);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise(argc, argv, required, *provided);
}

int MPI_Query_thread(int* provided) {
    const int code = next::Query_thread(provided);
    *provided = quern::mpi::detail::promised_level(*provided);
    return code;
}

int MPI_Abort(MPI_Comm comm, int code) {
    quern::mpi::detail::job_is_aborted(code);
    wait_until_words_are_read();
    return next::Abort(comm, code);
}

int MPI_Finalize() {
    engine& all = engine::of_process();
    if (const std::uint64_t calls = all.outstanding(); calls != 0) {
        std::fprintf(stderr, "quern: MPI_Finalize while %llu %s: %s\n",
                     static_cast<unsigned long long>(calls),
                     calls == 1 ? "call waits" : "calls wait", all.describe_outstanding().c_str());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    quern::mpi::detail::leave_job();
    quern::mpi::detail::end_entrance_watch();
    quern::mpi::detail::job_is_finalising();
    quern::mpi::detail::end_numbering();
    quern::detail::forget_harmless();
    meet_at_end();
    const int code = next::Finalize();
    quern::mpi::detail::job_is_finalised();
    return code;
}

}  // extern "C"

namespace quern::mpi {

environment::environment(int& argc, char**& argv) : m_exceptions(std::uncaught_exceptions()) {
    int is_done = 0;
    PMPI_Initialized(&is_done);
    if (is_done != 0) {
        throw std::runtime_error("quern: MPI has been initialised before");
    }
    initialise(&argc, &argv, MPI_THREAD_SERIALIZED, m_level);
    if (m_level < MPI_THREAD_SERIALIZED) {
        throw std::runtime_error("quern: this MPI library allows one thread only (level " +
                                 std::to_string(m_level) + "); needed is MPI_THREAD_SERIALIZED");
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &m_size);
}

environment::~environment() {
    if (std::uncaught_exceptions() <= m_exceptions) {
        MPI_Finalize();
    }
}

}  // namespace quern::mpi
