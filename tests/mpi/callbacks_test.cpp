// SPDX-License-Identifier: BSL-1.0
// Operators that wait: for children, for other tasks, for locks that tasks hold. While an operator
// waits the entrance stays taken, and its task stays on its worker. Waits that cannot end are in
// tests/mpi_reports.
#include "world.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

constexpr int k_tasks = 4;
constexpr int k_rounds = 20;
constexpr int k_longs = 500;

quern::mutex g_lock;
quern::runtime* g_runtime = nullptr;
std::atomic<int> g_moved{0};  ///< operators that have ended on another thread

void add(void* from, void* into, int count) {
    for (int i = 0; i < count; ++i) {
        static_cast<long*>(into)[i] += static_cast<long*>(from)[i];
    }
}

pid_t thread_here() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

void add_by_children(void* from, void* into, int* count, MPI_Datatype*) {
    const pid_t begun_on = thread_here();
    auto* const a = static_cast<long*>(from);
    auto* const b = static_cast<long*>(into);
    quern::parallel_for(0, *count, [&](int i) { b[i] += a[i]; });
    g_moved += thread_here() != begun_on ? 1 : 0;
}

void add_by_task(void* from, void* into, int* count, MPI_Datatype*) {
    const pid_t begun_on = thread_here();
    quern::async(*g_runtime, [&] {
        quern::this_task::yield();
        add(from, into, *count);
    }).get();
    g_moved += thread_here() != begun_on ? 1 : 0;
}

void add_under_lock(void* from, void* into, int* count, MPI_Datatype*) {
    const pid_t begun_on = thread_here();
    const std::scoped_lock guard(g_lock);
    add(from, into, *count);
    g_moved += thread_here() != begun_on ? 1 : 0;
}

class mpi_callbacks : public testing::TestWithParam<unsigned> {
protected:
    /// Several tasks reduce, and as many hold the lock while they run and give way.
    void reduce_by(MPI_User_function* function) {
        MPI_Op sum = MPI_OP_NULL;
        MPI_Op_create(function, 1, &sum);
        std::vector<std::unique_ptr<own_comm>> comms;
        for (int i = 0; i < k_tasks; ++i) {
            comms.push_back(std::make_unique<own_comm>());
        }
        g_moved = 0;
        std::atomic<int> wrong{0};
        {
            quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
            g_runtime = &rt;
            std::vector<quern::future<void>> all;
            for (int i = 0; i < k_tasks; ++i) {
                const MPI_Comm comm = *comms[static_cast<std::size_t>(i)];
                all.push_back(quern::async(rt, [comm, sum, &wrong] {
                    for (int round = 0; round < k_rounds; ++round) {
                        std::vector<long> mine(k_longs, this_world().rank + 1);
                        std::vector<long> total(k_longs);
                        MPI_Allreduce(mine.data(), total.data(), k_longs, MPI_LONG, sum, comm);
                        wrong += total != std::vector<long>(k_longs, 3) ? 1 : 0;
                    }
                }));
                all.push_back(quern::async(rt, [] {
                    for (int round = 0; round < k_rounds; ++round) {
                        const std::scoped_lock guard(g_lock);
                        const quern::ignore_held_locks on_purpose;
                        quern::this_task::yield();
                    }
                }));
            }
            for (auto& each : all) {
                each.get();
            }
        }
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(g_moved, 0);
        MPI_Op_free(&sum);
    }
};

INSTANTIATE_TEST_SUITE_P(on, mpi_callbacks, testing::Values(1U, 2U, 3U));

TEST_P(mpi_callbacks, an_operator_waits_for_children) { reduce_by(add_by_children); }
TEST_P(mpi_callbacks, an_operator_waits_for_a_task) { reduce_by(add_by_task); }
TEST_P(mpi_callbacks, an_operator_waits_for_a_lock) { reduce_by(add_under_lock); }

}  // namespace
