// SPDX-License-Identifier: BSL-1.0
// Benchmarks of several processes. The program starts itself again under the starter of its MPI
// library; rank 0 is the contender that bench/run talks to, and takes the others along.
#pragma once

#include "harness.hpp"

#include <mpi.h>

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

/// main(): `starter` and its options, e.g. "mpirun.openmpi --oversubscribe".
int serve(const char* runtime, const char* starter, int argc, char** argv);

}  // namespace bench::ranks
