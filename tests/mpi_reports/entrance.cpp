// SPDX-License-Identifier: BSL-1.0
#include "entrance.hpp"

#include <quern/quern.hpp>

#include <mpi.h>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>

namespace {

quern::mutex g_lock;
std::atomic<bool> g_is_locked{false};
std::atomic<bool> g_is_in_operator{false};

void add_locked(void* from, void* into, int* count, MPI_Datatype*) {
    g_is_in_operator = true;
    const std::scoped_lock guard(g_lock);
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(into)[i] += static_cast<int*>(from)[i];
    }
}

void refuse(void*, void*, int*, MPI_Datatype*) { throw std::runtime_error("no sum"); }

void reduce_by(MPI_User_function* function) {
    MPI_Op sum = MPI_OP_NULL;
    MPI_Op_create(function, 1, &sum);
    int one = 1;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, sum, MPI_COMM_WORLD);
    MPI_Op_free(&sum);
}

}  // namespace

void operator_waits_for_ever(int rank) {
    const quern::runtime here(quern::runtime_options::with_workers(2));
    auto holds = quern::async(here, [rank] {
        const std::scoped_lock guard(g_lock);
        const quern::ignore_held_locks on_purpose;
        g_is_locked = true;
        while (!g_is_in_operator) {
            quern::this_task::yield();
        }
        int sent = 1;
        int got = 0;
        MPI_Sendrecv(&sent, 1, MPI_INT, rank, 3, &got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    });
    quern::async(here, [] {
        while (!g_is_locked) {
            quern::this_task::yield();
        }
        reduce_by(add_locked);
    }).get();
    holds.get();
}

void operator_throws() {
    quern::async([] { reduce_by(refuse); }).get();
}

void receive_too_much(int rank, bool at_once) {
    using namespace std::chrono_literals;
    quern::async({.name = "left edge"}, [rank, at_once] {
        const int much[4] = {};
        int little = 0;
        if (rank == 0) {
            quern::this_task::sleep_for(at_once ? 0ms : 100ms);
            MPI_Send(much, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (at_once) {
            MPI_Probe(0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            MPI_Recv(&little, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }).get();
}

void call_for_long(int rank) {
    using namespace std::chrono_literals;
    int value = 1;
    auto passes = quern::async([rank, &value] {
        if (rank == 0) {
            quern::this_task::sleep_for(200ms);
            MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    });
    if (rank == 1) {
        passes.get();
    }
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
    passes.get();
}
