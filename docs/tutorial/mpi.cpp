// SPDX-License-Identifier: BSL-1.0
// Step 11 of the tutorial: ranks pass a sum around a ring while each computes.
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <cstdio>

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    quern::mpi::environment world(argc, argv);
    const int next = (world.rank() + 1) % world.size();
    const int before = (world.rank() + world.size() - 1) % world.size();
    // Waits for the rank before, as a suspended task, and passes on.
    auto ring = quern::async({.name = "ring"}, [&] {
        long sum = 0;
        if (world.rank() != 0) {
            MPI_Recv(&sum, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        sum += world.rank();
        MPI_Send(&sum, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
        if (world.rank() == 0) {
            MPI_Recv(&sum, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        return sum;
    });
    // Meanwhile the workers compute.
    const long squares = quern::parallel_reduce(
        0, 1'000'000, 0L, [](long i) { return i * i % 7; }, [](long a, long b) { return a + b; });
    const long sum = ring.get();
    if (world.rank() == 0) {
        std::printf("%d ranks, sum of their numbers %ld; squares %ld\n", world.size(), sum,
                    squares);
    }
}
