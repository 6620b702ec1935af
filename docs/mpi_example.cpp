// SPDX-License-Identifier: BSL-1.0
// The program of docs/mpi.md; tests/mpi_reports compares what it prints.
#include <quern/algorithms/parallel_for.hpp>
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    quern::mpi::environment world(argc, argv);
    const int next = (world.rank() + 1) % world.size();
    const int previous = (world.rank() + world.size() - 1) % world.size();
    constexpr int k_messages = 1000;
    std::vector<double> got(k_messages);
    quern::task_group exchange;
    for (int tag = 0; tag < k_messages; ++tag) {
        // It waits for its message as a suspended task. No worker waits.
        exchange.run([&, tag] {
            MPI_Recv(&got[tag], 1, MPI_DOUBLE, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
        exchange.run([&, tag] {
            const double sent = tag;
            MPI_Send(&sent, 1, MPI_DOUBLE, next, tag, MPI_COMM_WORLD);
        });
    }
    // Meanwhile the workers compute.
    const double area = quern::parallel_reduce(
        0, 10'000'000, 0.0, [](int i) { return 4e-7 / (1 + (i + 0.5) * (i + 0.5) * 1e-14); },
        [](double a, double b) { return a + b; });
    exchange.wait();
    double sum = 0;
    for (const double each : got) {
        sum += each;
    }
    // Outside of tasks a call blocks its thread, as usual.
    double all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world.rank() == 0) {
        std::printf("%d ranks received messages of sum %.0f; pi is about %.6f\n", world.size(), all,
                    area);
    }
}
