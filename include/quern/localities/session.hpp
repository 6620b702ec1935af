// SPDX-License-Identifier: BSL-1.0
// The beginning and the end of a program that runs at several localities, and their numbers. A
// locality is a rank of the job: a process with a runtime of its own. Start the program by
// `quern run -n 4`, mpirun or srun. Protocol: src/localities/README.md.
#pragma once

#include <quern/base/detail/config.hpp>

#include <memory>
#include <vector>

namespace quern::localities {

namespace detail {
class job;
}

/// The locality that exists in every job. Programs give it what one locality has to do.
inline constexpr int root = 0;  // NOLINT(readability-identifier-naming)

/// A job of localities, from construction to destruction. Every rank makes one, at the same place
/// of the program, and runs its main function: there is no main function of the job.
///
///     int main(int argc, char** argv) {
///         quern::localities::session job(argc, argv);
///         if (quern::localities::here() == quern::localities::root) {
///             const auto more = [](int x) { return x + 1; };
///             std::printf("%d\n", quern::localities::run_at(0, more, 41).get());
///         }
///     }
///
/// The constructor initialises MPI, unless the program has done so, and starts the default runtime,
/// which must not end before the session. The destructor waits until all localities are at the same
/// place and no parcel is under way or runs anywhere; then it finalises MPI, if it has initialised
/// it. MPI cannot be initialised twice, so a program with several sessions does it itself, by a
/// quern::mpi::environment that outlives them. Tasks that parcels have left behind, and that post
/// parcels later, are not waited for. An exception that leaves the scope of the session ends
/// nothing at the other localities: parcels are lost, and when the process has ended, which waits
/// for its runtime as always, the starter ends the other ranks.
///
/// Errors: std::runtime_error if the localities run different programs (their build ids are
/// compared), if MPI has no threads or has been finalised; std::logic_error for a second session at
/// a time. Thread safety: made and destroyed by the main thread, outside of tasks. Cost: some
/// milliseconds, and memory for four messages of 32 KiB.
class session {
public:
    session(int& argc, char**& argv);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

private:
    struct parts;
    std::unique_ptr<parts> m_parts;
};

/// The number of the calling process's locality, from 0 to count() - 1. Throws std::logic_error
/// without a session. Any thread; a load.
int here();

/// How many localities the job has. As here().
int count();

/// The numbers of all localities, in order. As here(), and an allocation.
///
///     for (const int each : quern::localities::all()) {
///         quern::localities::post_to(each, [] { std::puts("hello"); });
///     }
std::vector<int> all();

}  // namespace quern::localities
