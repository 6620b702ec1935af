// SPDX-License-Identifier: BSL-1.0
// The MPI program that the tests of `quern run -n` start. Its first argument says how it behaves;
// all but "bandwidth" and "late" print a line for each rank first.
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// A message that never comes.
void wait_for_ever(int rank) {
    int nothing = 0;
    MPI_Recv(&nothing, 1, MPI_INT, rank == 0 ? 1 : 0, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Rank 0 sends 32 messages of 256 KiB to rank 1.
void measure_bandwidth(int rank) {
    constexpr int k_messages = 32;
    std::vector<char> block(1u << 18u);
    const int length = static_cast<int>(block.size());
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < k_messages; ++i) {
        if (rank == 0) {
            MPI_Send(block.data(), length, MPI_CHAR, 1, i, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(block.data(), length, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%.1f Mbit/s\n", k_messages * length * 8e-6 / (MPI_Wtime() - begin));
    }
}

/// Rank 0 passes something on and finalises MPI while rank 1 has not looked for it.
void receive_late(int rank) {
    int word = rank;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank != 0) {
        ::usleep(50'000);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Leaves a process behind that has its own session, as a daemon has.
void leave_orphan() {
    if (::fork() == 0) {
        ::setsid();
        ::close(STDOUT_FILENO);
        ::close(STDERR_FILENO);
        ::sleep(60);
        ::_exit(0);
    }
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "none";
}

/// By one write, so that lines of several ranks do not mix.
void print_line(const quern::mpi::environment& world, int argc, char** argv) {
    std::string line = "rank " + std::to_string(world.rank()) + " of " +
                       std::to_string(world.size()) + ", process " + std::to_string(::getpid()) +
                       ", threads " + variable("QUERN_THREADS") + ", profile " +
                       variable("QUERN_PROFILE") + ", words";
    for (int i = 1; i < argc; ++i) {
        line.append(" [").append(argv[i]).append("]");
    }
    std::puts(line.append(" end").c_str());
    std::fflush(stdout);
}

int run(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    int rank = 0;
    {
        quern::mpi::environment world(argc, argv);
        rank = world.rank();
        if (how == "bandwidth" || how == "late") {
            measure_bandwidth(rank);
            if (how == "late") {
                receive_late(rank);
            }
            return 0;
        }
        quern::async([] { MPI_Barrier(MPI_COMM_WORLD); }).get();
        print_line(world, argc, argv);
        if (how == "deaf") {
            std::signal(SIGINT, SIG_IGN);
            std::signal(SIGTERM, SIG_IGN);
        }
        if ((how == "throw" || how == "catch") && rank == 1) {
            throw std::runtime_error("a mistake of rank 1");
        }
        if (how == "wait" || how == "deaf" || how == "throw" || how == "catch") {
            wait_for_ever(rank);
        }
        if (how == "leave" && rank == 1) {
            std::_Exit(0);  // without MPI_Finalize
        }
        if (how == "abort" && rank == 1) {
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
        if (how == "leave" || how == "abort") {
            wait_for_ever(rank);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (how == "orphan" && rank == 0) {
        leave_orphan();
    }
    if (how == "kill-last" && rank == 1) {
        ::usleep(500'000);  // the other one ends meanwhile
        std::raise(SIGKILL);
    }
    return how == "status" && rank == 1 ? 7 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || std::string(argv[1]) != "catch") {
        return run(argc, argv);
    }
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "caught: %s\n", error.what());
        return 3;
    }
}
