// SPDX-License-Identifier: BSL-1.0
// Calls that the table does not hold: functions without a non-blocking twin, functions that MPI
// calls and that call MPI, messages of a rank to itself, and operations that a runtime waits for.
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

std::size_t count_of(const std::string& word, const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        ++found;
    }
    return found;
}

TEST(mpi_calls_without_a_twin, work_in_tasks_and_outside_and_are_named_once) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    auto split = [] {
        MPI_Comm made = MPI_COMM_NULL;
        int rank = -1;
        EXPECT_EQ(MPI_Comm_split(MPI_COMM_WORLD, 0, -this_world().rank, &made), MPI_SUCCESS);
        MPI_Comm_rank(made, &rank);
        EXPECT_EQ(rank, this_world().size - 1 - this_world().rank);
        MPI_Comm_free(&made);
    };
    testing::internal::CaptureStderr();
    split();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    testing::internal::CaptureStderr();
    quern::async(rt, split).get();
    quern::async(rt, split).get();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(count_of("quern: MPI_Comm_split has no non-blocking form", said), 1U) << said;
    EXPECT_EQ(count_of("quern: MPI_Comm_free has no non-blocking form", said), 1U) << said;
    EXPECT_EQ(count_of(" (called in ", said), 2U) << said;
    EXPECT_EQ(count_of("calls_special_test.cpp:", said), 2U) << said;
    EXPECT_EQ(count_of("\n", said), 2U) << said;
}

int g_handled = 0;

/// As libraries do: it looks at the communicator, by functions that enter MPI.
void handle_error(MPI_Comm* comm, int*, ...) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    MPI_Comm_get_name(*comm, name, &length);
    g_handled += std::string(name) == "handled" ? 1 : 0;
}

TEST(mpi_calls_within_calls, an_error_handler_calls_mpi) {
    const own_comm comm;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_set_name(comm, "handled");
    MPI_Comm_create_errhandler(handle_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    g_handled = 0;
    quern::runtime rt(quern::runtime_options::with_workers(1));
    const int peer = 1 - this_world().rank;
    quern::async(rt, [&] {
        EXPECT_NE(MPI_Send(nullptr, 0, MPI_INT, 1000, 1, comm), MPI_SUCCESS);  // ends at once
        int little = 0;
        const std::vector<int> much(4);
        EXPECT_EQ(MPI_Send(much.data(), 4, MPI_INT, peer, 1, comm), MPI_SUCCESS);
        EXPECT_NE(MPI_Recv(&little, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }).get();
    EXPECT_EQ(g_handled, 2);
    MPI_Errhandler_free(&handler);
}

int delete_inner(MPI_Comm, int, void* inner, void*) {
    return MPI_Comm_free(static_cast<MPI_Comm*>(inner));
}

/// PETSc keeps a duplicate as an attribute of the communicator that it was given.
TEST(mpi_calls_within_calls, the_end_of_an_attribute_frees_a_communicator) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [] {
        int key = MPI_KEYVAL_INVALID;
        MPI_Comm outer = MPI_COMM_NULL;
        MPI_Comm inner = MPI_COMM_NULL;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &key, nullptr);
        MPI_Comm_dup(MPI_COMM_WORLD, &outer);
        MPI_Comm_dup(MPI_COMM_WORLD, &inner);
        MPI_Comm_set_attr(outer, key, &inner);
        EXPECT_EQ(MPI_Comm_free(&outer), MPI_SUCCESS);
        EXPECT_EQ(inner, MPI_COMM_NULL);
        MPI_Comm_free_keyval(&key);
    }).get();
}

void sum_and_call(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
    int size = 0;
    int combiner[4] = {};
    MPI_Type_size(*type, &size);
    MPI_Type_get_envelope(*type, &combiner[0], &combiner[1], &combiner[2], &combiner[3]);
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(in_and_out)[i] += static_cast<int*>(in)[i];
    }
}

TEST(mpi_calls_within_calls, an_operator_looks_at_its_type) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(sum_and_call, 1, &op);
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [&] {
        int sum = 0;
        MPI_Allreduce(&this_world().rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        EXPECT_EQ(sum, this_world().size * (this_world().size - 1) / 2);
    }).get();
    MPI_Op_free(&op);
}

/// Two tasks of one worker, of which each waits for the other.
TEST(mpi_calls_special, tasks_of_a_rank_exchange_messages) {
    const own_comm comm(MPI_COMM_SELF);
    quern::runtime rt(quern::runtime_options::with_workers(1));
    std::vector<quern::future<int>> tasks;
    for (int own : {0, 1}) {
        tasks.push_back(quern::async(rt, [&, own] {
            int received = -1;
            for (int i = 0; i < 100; ++i) {
                const int sent = 10 * i + own;
                if (own == 0) {
                    MPI_Ssend(&sent, 1, MPI_INT, 0, 0, comm);
                }
                MPI_Recv(&received, 1, MPI_INT, 0, 1 - own, comm, MPI_STATUS_IGNORE);
                if (own == 1) {
                    MPI_Ssend(&sent, 1, MPI_INT, 0, 1, comm);
                }
            }
            return received;
        }));
    }
    EXPECT_EQ(tasks[0].get(), 991);
    EXPECT_EQ(tasks[1].get(), 990);
}

TEST(mpi_calls_special, a_runtime_does_not_end_before_its_operations) {
    const own_comm comm;
    int received = -1;
    {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::post({.pool = &rt.default_pool().get()}, [&] {
            MPI_Recv(&received, 1, MPI_INT, 1 - this_world().rank, 1, comm, MPI_STATUS_IGNORE);
        });
        if (this_world().rank == 0) {
            MPI_Send(&this_world().rank, 1, MPI_INT, 1, 1, comm);
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            MPI_Send(&this_world().rank, 1, MPI_INT, 0, 1, comm);
        }
    }
    EXPECT_EQ(received, 1 - this_world().rank);
}

/// Several threads that are no workers, beside a runtime: one at a time is in MPI.
TEST(mpi_calls_special, threads_beside_a_runtime_and_tasks) {
    const own_comm comm;
    quern::runtime rt(quern::runtime_options::with_workers(2));
    const int peer = 1 - this_world().rank;
    std::atomic<int> wrong{0};
    auto talk = [&](int tag) {
        for (int i = 0; i < 200; ++i) {
            int received = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, peer, tag, &received, 1, MPI_INT, peer, tag, comm,
                         MPI_STATUS_IGNORE);
            wrong += received == i ? 0 : 1;
        }
    };
    std::vector<std::thread> threads;
    std::vector<quern::future<void>> tasks;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back(talk, i);
        tasks.push_back(quern::async(rt, talk, 3 + i));
    }
    for (auto& each : threads) {
        each.join();
    }
    for (auto& each : tasks) {
        each.get();
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
