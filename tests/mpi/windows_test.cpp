// SPDX-License-Identifier: BSL-1.0
// Accesses to the memory of a rank that takes no part in them: it waits in a task or outside, and
// MPI serves them while the layer looks whether that wait has ended. Prints what an access took.
#include "world.hpp"

#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

constexpr int k_accesses = quern::detail::k_tsan || quern::detail::k_asan ? 50 : 200;

/// Of one counter on rank 1. A page: smaller windows lose values with MPICH 4.0, without this layer
/// too; and Open MPI 4.1 may have no windows but those that it allocates.
class window {
public:
    explicit window(MPI_Comm comm) {
        MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, comm, &m_memory, &m_window);
        *m_memory = 0;
        MPI_Barrier(comm);
    }
    window(const window&) = delete;
    window& operator=(const window&) = delete;
    ~window() { MPI_Win_free(&m_window); }

    int add_one() {
        const int one = 1;
        int before = -1;
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, m_window);
        MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 0, MPI_SUM, m_window);
        MPI_Win_unlock(1, m_window);
        return before;
    }
    int value() {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, m_window);
        const int value = *m_memory;
        MPI_Win_unlock(1, m_window);
        return value;
    }

private:
    int* m_memory = nullptr;
    MPI_Win m_window = MPI_WIN_NULL;
};

class mpi_windows : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(on, mpi_windows, testing::Values(1U, 2U));

void access_while_the_target_waits(MPI_Comm comm) {
    window counter(comm);
    int token = 0;
    if (this_world().rank == 0) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < k_accesses; ++i) {
            EXPECT_EQ(counter.add_one(), i);
        }
        const std::chrono::duration<double, std::micro> all =
            std::chrono::steady_clock::now() - begin;
        std::printf("%.1f us an access\n", all.count() / k_accesses);
        MPI_Send(&token, 1, MPI_INT, 1, 0, comm);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        EXPECT_EQ(counter.value(), k_accesses);
    }
    MPI_Barrier(comm);
}

TEST_P(mpi_windows, of_a_rank_whose_task_waits_are_served) {
    const own_comm comm;
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    quern::async(rt, [&] { access_while_the_target_waits(comm); }).get();
}

TEST_P(mpi_windows, of_a_rank_that_waits_outside_tasks_are_served) {
    const own_comm comm;
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    access_while_the_target_waits(comm);
}

TEST(mpi_windows_alone, are_served_without_a_runtime) {
    const own_comm comm;
    access_while_the_target_waits(comm);
}

}  // namespace
