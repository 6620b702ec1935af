// SPDX-License-Identifier: BSL-1.0
// An outside project whose tasks call MPI. Each rank has a hundred tasks which wait for a message
// of the rank before it, on one worker, and sends in reverse order. Must use only the public
// interface. CONSUMER_KNOWS_NO_LAYER: it is a program of MPI, into which the layer is preloaded.
#ifndef CONSUMER_KNOWS_NO_LAYER
#    include <quern/mpi/environment.hpp>
#endif
#include <quern/quern.hpp>

#include <mpi.h>
#include <cstdio>

#ifdef CONSUMER_KNOWS_NO_LAYER
namespace {
class mpi_world {
public:
    mpi_world(int& argc, char**& argv) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
        MPI_Comm_size(MPI_COMM_WORLD, &m_size);
    }
    mpi_world(const mpi_world&) = delete;
    mpi_world& operator=(const mpi_world&) = delete;
    ~mpi_world() { MPI_Finalize(); }

    int rank() const { return m_rank; }
    int size() const { return m_size; }

private:
    int m_rank = 0;
    int m_size = 1;
};
}  // namespace
#else
using mpi_world = quern::mpi::environment;
#endif

int main(int argc, char** argv) {
    constexpr int k_messages = 100;
    const mpi_world world(argc, argv);
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
