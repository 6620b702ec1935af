// SPDX-License-Identifier: BSL-1.0
// Benchmarks of several processes. The program starts itself again under the starter of its MPI
// library; rank 0 is the contender that bench/run talks to, and takes the others along.
#pragma once

#include "harness.hpp"

#include <mpi.h>
#include <functional>
#include <string>

namespace bench::ranks {

int rank() noexcept;
int size() noexcept;

/// Tells the other ranks to repeat their job too. They ask every millisecond, asleep in between, so
/// that they take no time from other contenders.
void take_along();

/// A job whose repetitions run f() on all ranks at a time.
template <class F>
job together(F f) {
    return [f] {
        take_along();
        return f();
    };
}

/// A job by each mechanism with which a task waits for messages: contenders "tasks" (library),
/// "tasks_thread" and "tasks_restart", if `name` is "tasks".
class by_each_mechanism {
public:
    by_each_mechanism(const char* problem, const std::string& name,
                      const std::function<job(const arguments&)>& make)
        : m_library(problem, name, make),
          m_thread(problem, name + "_thread", make, {{"QUERN_MPI_MECHANISM", "thread"}}),
          m_restart(problem, name + "_restart", make, {{"QUERN_MPI_MECHANISM", "restart"}}) {}

private:
    contender m_library;
    contender m_thread;
    contender m_restart;
};

/// main(): `starter` and its options, e.g. "mpirun.openmpi --oversubscribe".
int serve(const char* runtime, const char* starter, int argc, char** argv);

}  // namespace bench::ranks
