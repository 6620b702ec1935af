// SPDX-License-Identifier: BSL-1.0
// An outside project whose tasks call MPI. Each rank has a hundred tasks which wait for a message
// of the rank before it, on one worker, and sends in reverse order. Must use only the public
// interface.
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <cstdio>

int main(int argc, char** argv) {
    constexpr int k_messages = 100;
    const quern::mpi::environment world(argc, argv);
    const int before = (world.rank() + world.size() - 1) % world.size();
    const int after = (world.rank() + 1) % world.size();
    int got[k_messages] = {};
    {
        quern::runtime runtime(quern::runtime_options::with_workers(1));
        quern::async(runtime, [&] {
            quern::task_group group;
            for (int& each : got) {
                group.run([&each, tag = static_cast<int>(&each - got), before] {
                    MPI_Recv(&each, 1, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                });
            }
            for (int tag = k_messages; tag-- > 0;) {
                group.run([tag, after] {
                    const int value = 3 * tag;
                    MPI_Ssend(&value, 1, MPI_INT, after, tag, MPI_COMM_WORLD);
                });
            }
            group.wait();
        }).get();
    }
    for (int tag = 0; tag < k_messages; ++tag) {
        if (got[tag] != 3 * tag) {
            std::fprintf(stderr, "rank %d: message %d is %d\n", world.rank(), tag, got[tag]);
            return 1;
        }
    }
    std::printf("rank %d of %d has all messages\n", world.rank(), world.size());
    return 0;
}
