// SPDX-License-Identifier: BSL-1.0
// Clocks are compared as in Cristian's algorithm (1989): a rank asks rank 0 for its time, which was
// read, as far as can be known, in the middle between question and answer. Of several exchanges the
// one with the shortest round trip counts. One rank after the other, so that two at a time need a
// processor; those whose turn has not come sleep.
#include "job/job_clock.hpp"

#include <quern/settings/settings.hpp>
#include <quern/trace/job.hpp>

#include <mpi.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace quern::mpi::detail {

namespace {

using namespace std::chrono_literals;

constexpr int k_least_rounds = 10;
constexpr int k_most_rounds = 200;
constexpr std::uint64_t k_good_round_ns = 5'000;  // by shared memory one takes 1 us
constexpr auto k_enough_time = 50ms;              // of one rank; a busy machine needs it
constexpr auto k_nap = 50us;                      // while it is another rank's turn

/// The ranks while clocks are compared, apart from the messages of the program.
MPI_Comm g_clock_comm = MPI_COMM_NULL;

std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Receives a number from a rank that may come late.
int receive_in_time(int from) {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(&value, 1, MPI_INT, from, 0, g_clock_comm, &request);
    for (int is_done = 0;;) {
        PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done != 0) {
            return value;
        }
        std::this_thread::sleep_for(k_nap);
    }
}

/// Rank 0: answers a rank until that has asked for the last time.
void serve(int rank) {
    const int turn = 1;
    PMPI_Send(&turn, 1, MPI_INT, rank, 0, g_clock_comm);
    int is_last = receive_in_time(rank);
    for (;;) {
        const std::uint64_t time = now_ns();
        PMPI_Send(&time, 1, MPI_UINT64_T, rank, 0, g_clock_comm);
        if (is_last != 0) {
            return;
        }
        PMPI_Recv(&is_last, 1, MPI_INT, rank, 0, g_clock_comm, MPI_STATUS_IGNORE);
    }
}

/// Another rank, when its turn has come.
trace::clock_reading ask() {
    receive_in_time(0);
    trace::clock_reading best{.round_trip_ns = ~std::uint64_t{0}};
    const auto enough = std::chrono::steady_clock::now() + k_enough_time;
    for (int round = 1;; ++round) {
        const int is_last =
            static_cast<int>(round == k_most_rounds || std::chrono::steady_clock::now() > enough ||
                             (round >= k_least_rounds && best.round_trip_ns < k_good_round_ns));
        std::uint64_t there = 0;
        const std::uint64_t begin = now_ns();
        PMPI_Send(&is_last, 1, MPI_INT, 0, 0, g_clock_comm);
        PMPI_Recv(&there, 1, MPI_UINT64_T, 0, 0, g_clock_comm, MPI_STATUS_IGNORE);
        const std::uint64_t end = now_ns();
        if (end - begin < best.round_trip_ns) {
            const std::uint64_t middle = begin + (end - begin) / 2;
            best = {middle, static_cast<std::int64_t>(there - middle), end - begin};
        }
        if (is_last != 0) {
            return best;
        }
    }
}

trace::clock_reading compare_clocks() {
    int rank = 0;
    int size = 1;
    PMPI_Comm_rank(g_clock_comm, &rank);
    PMPI_Comm_size(g_clock_comm, &size);
    if (rank != 0) {
        return ask();
    }
    for (int other = 1; other < size; ++other) {
        serve(other);
    }
    return {.at_ns = now_ns()};
}

/// Which clock this process reads: it counts from when the machine was started, and may be set
/// differently in another time namespace. Empty if that is not known.
std::string clock_identity() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    std::error_code failed;
    const std::string space = std::filesystem::read_symlink("/proc/self/ns/time", failed).string();
    return boot.empty() ? boot : boot + ' ' + space;
}

bool is_traced() {
    try {
        const settings chosen = current_settings();
        return chosen.has("trace") && !chosen.at("trace").text.empty();
    } catch (const std::exception&) {
        return false;  // the runtime will tell of the mistake
    }
}

}  // namespace

void join_job() {
    struct {
        char name[48];
        char clock[80];
        int compares_clocks;
    } job{};
    trace::job_place here;
    const std::string clock = clock_identity();
    PMPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &here.ranks);
    if (here.rank == 0) {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        std::snprintf(job.name, sizeof job.name, "%llx-%x",
                      static_cast<unsigned long long>(since.count()),
                      static_cast<unsigned>(::getpid()));
        clock.copy(job.clock, sizeof job.clock - 1);
        job.compares_clocks = static_cast<int>(is_traced());
    }
    if (here.ranks > 1) {
        PMPI_Bcast(&job, sizeof job, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    here.job = job.name;
    if (job.compares_clocks != 0 && here.ranks > 1) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &g_clock_comm);
        if (here.rank != 0 && !clock.empty() && clock == job.clock) {
            here.clocks.push_back({.at_ns = now_ns()});  // the same one
        }
        here.clocks.push_back(compare_clocks());
    }
    trace::describe_job(std::move(here));
}

void leave_job() {
    if (g_clock_comm != MPI_COMM_NULL) {
        trace::add_clock_reading(compare_clocks());
        PMPI_Comm_free(&g_clock_comm);
    }
}

}  // namespace quern::mpi::detail
