// SPDX-License-Identifier: BSL-1.0
// The order of messages: receipts posted by tasks in an order other than that of the sending,
// messages of a task that moves between workers, and a great many receipts at once.
// TEST_MPI_STEPS sets the number of steps (40), TEST_MPI_MESSAGES that of ordered messages
// (100000), TEST_MPI_RECEIPTS that of receipts (5000, since the MPI libraries look for the receipt
// of a message one by one).
#include "stress/process.hpp"
#include "world.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

constexpr int k_slowed = quern::detail::k_tsan || quern::detail::k_asan ? 20 : 1;

int number_of(const char* variable, int usual) {
    const char* const given = std::getenv(variable);
    return given != nullptr ? std::atoi(given) : usual;
}

quern::runtime_options small_stacks(unsigned workers) {
    auto wanted = quern::runtime_options::with_workers(workers);
    wanted.pools.front().stacks = quern::stack_class::small;
    return wanted;
}

/// Each task has a partner on the other rank, the tasks of rank 1 in the order opposite to that of
/// rank 0: with one worker a rank, messages are sent in the reverse of the order in which receipts
/// have been posted. In each step rank 1 answers.
TEST(mpi_order, tasks_receive_in_reverse_for_many_steps) {
    constexpr int k_tasks = 500;
    const int steps = number_of("TEST_MPI_STEPS", 40 / k_slowed);
    const bool begins = this_world().rank == 0;
    const own_comm comm;
    quern::runtime rt(small_stacks(1));
    std::atomic<long> wrong{0};
    std::vector<quern::future<void>> tasks;
    for (int task = 0; task < k_tasks; ++task) {
        tasks.push_back(quern::async(rt, [&, tag = begins ? k_tasks - 1 - task : task] {
            for (int step = 0; step < steps; ++step) {
                const int value = 1000 * step + tag;
                int received = -1;
                if (begins) {
                    MPI_Send(&value, 1, MPI_INT, 1, tag, comm);
                }
                MPI_Recv(&received, 1, MPI_INT, begins ? 1 : 0, tag, comm, MPI_STATUS_IGNORE);
                if (!begins) {
                    MPI_Send(&value, 1, MPI_INT, 0, tag, comm);
                }
                wrong += received != value ? 1 : 0;
            }
        }));
    }
    for (auto& each : tasks) {
        each.get();
    }
    EXPECT_EQ(wrong, 0);
}

/// Suspends the calling task until the next worker of its pool runs it.
void move_to_next_worker() {
    auto publish = [](quern::detail::context& self) {
        auto& pool = self.host().home();
        self.home = static_cast<std::int16_t>((self.host().rank() + 1) % pool.size());
        pool.inject(self);
        return true;
    };
    quern::detail::suspend(publish);
    quern::detail::current_context()->home = -1;
}

/// Moves the calling task. The next worker may lack a processor when others look for work, so
/// several attempts. False: each time the same worker was there first.
bool has_moved_on() {
    constexpr int k_attempts = 20;
    const pid_t before = ::gettid();
    for (int i = 0; i < k_attempts && ::gettid() == before; ++i) {
        move_to_next_worker();
    }
    return ::gettid() != before;
}

/// One task sends messages of one tag, yields after each, and moves to the other worker after every
/// 50th; so does the receiver.
TEST(mpi_order, messages_of_a_task_that_migrates_do_not_overtake) {
    const int messages = number_of("TEST_MPI_MESSAGES", 100'000 / k_slowed);
    const own_comm comm;
    quern::runtime rt(quern::runtime_options::with_workers(2));
    long wrong = 0;
    long moves = 0;
    quern::async(rt, [&] {
        for (int i = 0; i < messages; ++i) {
            if (this_world().rank == 0) {
                MPI_Send(&i, 1, MPI_INT, 1, 7, comm);
            } else {
                int received = -1;
                MPI_Recv(&received, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
                wrong += received != i ? 1 : 0;
            }
            if (i % 50 != 0) {
                quern::this_task::yield();
                continue;
            }
            moves += has_moved_on() ? 1 : 0;
        }
    }).get();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(moves, messages / 500);
}

/// Receipts that wait cost the memory of their tasks, and no threads.
TEST(mpi_order, a_great_many_tasks_are_matched_in_reverse) {
    const int receipts = number_of("TEST_MPI_RECEIPTS", 5'000 / k_slowed);
    constexpr unsigned k_workers = 2;
    const own_comm comm;
    const own_comm control;
    const std::size_t threads_before = quern_test::thread_count();
    {
        quern::runtime rt(small_stacks(k_workers));
        if (this_world().rank == 0) {
            MPI_Barrier(control);
            for (int i = receipts; i-- > 0;) {
                MPI_Send(&i, 1, MPI_INT, 1, i % 30'000, comm);
            }
        } else {
            std::atomic<int> begun{0};
            std::vector<quern::future<int>> tasks;
            tasks.reserve(static_cast<std::size_t>(receipts));
            for (int i = 0; i < receipts; ++i) {
                tasks.push_back(quern::async(rt, [&, i] {
                    int received = -1;
                    ++begun;
                    MPI_Recv(&received, 1, MPI_INT, 0, i % 30'000, comm, MPI_STATUS_IGNORE);
                    return received % 30'000 == i % 30'000 ? 1 : 0;
                }));
            }
            while (begun != receipts) {
                std::this_thread::yield();
            }
            // Workers, and the thread that answers queries from outside.
            EXPECT_LE(quern_test::thread_count(), threads_before + k_workers + 1);
            if (k_slowed == 1) {
                EXPECT_LT(quern_test::resident_bytes(), std::size_t{1} << 30);
            }
            std::printf("[ receipts ] %d: %zu threads more, %zu MiB\n", receipts,
                        quern_test::thread_count() - threads_before,
                        quern_test::resident_bytes() >> 20);
            MPI_Barrier(control);
            long right = 0;
            for (auto& each : tasks) {
                right += each.get();
            }
            EXPECT_EQ(right, receipts);
        }
    }
}

}  // namespace
