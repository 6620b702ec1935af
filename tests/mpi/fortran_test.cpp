// SPDX-License-Identifier: BSL-1.0
// Calls of MPI in Fortran suspend their task, by each of its bindings (fortran_calls.F90), in a
// program that has been initialised in Fortran. One that blocks its worker never ends.
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>

namespace {

using quern_test::this_world;

int peer() { return 1 - this_world().rank; }

template <class F>
F* in_fortran(const std::string& name) {
    return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name.c_str()));
}

using passing = void(int* value, int peer, int tag);

class mpi_fortran : public testing::TestWithParam<const char*> {
protected:
    template <class F>
    F* call(const char* name) {
        F* const found = in_fortran<F>(std::string(name) + "_" + GetParam());
        EXPECT_NE(found, nullptr) << name;
        return found;
    }

    /// On one worker `before` begins, and `after` lets it end.
    template <class Before, class After>
    void run_in_order(Before before, After after) {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        std::atomic<bool> has_begun{false};
        auto first = quern::async(rt, [&] {
            has_begun = true;
            before();
        });
        auto second = quern::async(rt, [&] {
            while (!has_begun) {
                quern::this_task::yield();
            }
            after();
        });
        second.get();
        first.get();
    }

    /// Both ranks wait for a message before they send theirs.
    void receive_before_sending(const char* by, int tag) {
        auto* const receive = call<passing>(by);
        auto* const send = call<passing>("send");
        int got = -1;
        int sent = this_world().rank;
        run_in_order([&] { receive(&got, peer(), tag); }, [&] { send(&sent, peer(), tag); });
        EXPECT_EQ(got, peer());
    }

    /// One rank sends the message for which the other waits before it makes the collective call.
    template <class Collective>
    void send_during(int tag, Collective collective) {
        int value = 0;
        if (this_world().rank == 0) {
            run_in_order(collective, [&] { MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD); });
        } else {
            quern::runtime rt(quern::runtime_options::with_workers(1));
            quern::async(rt, [&] {
                MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                collective();
            }).get();
        }
    }
};

INSTANTIATE_TEST_SUITE_P(by, mpi_fortran, testing::Values("mpif", "mpi", "f08"),
                         [](const auto& one) { return std::string(one.param); });

TEST(mpi_fortran_world, initialises_by_this_layer) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    EXPECT_EQ(level, MPI_THREAD_SERIALIZED);  // the libraries would say MPI_THREAD_SINGLE
}

TEST_P(mpi_fortran, a_receive_suspends) { receive_before_sending("receive", 1); }

TEST_P(mpi_fortran, a_wait_suspends) { receive_before_sending("wait", 2); }

TEST_P(mpi_fortran, a_probe_suspends) { receive_before_sending("probe", 3); }

TEST_P(mpi_fortran, collective_calls_suspend) {
    auto* const sum = call<void(int*)>("sum");
    auto* const meet = call<void()>("meet");
    int all = this_world().rank + 1;
    send_during(4, [&] { sum(&all); });
    EXPECT_EQ(all, 3);
    send_during(5, [&] { meet(); });
}

TEST_P(mpi_fortran, a_collective_call_meets_one_in_cpp) {
    auto* const sum = call<void(int*)>("sum");
    for (const int in_fortran : {0, 1}) {
        int all = this_world().rank + 1;
        if (this_world().rank == in_fortran) {
            sum(&all);
        } else {
            MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        EXPECT_EQ(all, 3);
    }
}

TEST_P(mpi_fortran, many_calls_of_both_languages) {
    constexpr int k_messages = 16;
    auto* const receive = call<passing>("receive");
    auto* const send = call<passing>("send");
    quern::runtime rt(quern::runtime_options::with_workers(2));
    for (int round = 0; round < 20; ++round) {
        std::array<int, k_messages> got{};
        quern::task_group exchange(rt.default_pool());
        for (int tag = 0; tag < k_messages; ++tag) {
            exchange.run([&, tag] {
                int value = tag + round;
                if (tag % 2 == 0) {
                    send(&value, peer(), tag);
                } else {
                    MPI_Send(&value, 1, MPI_INT, peer(), tag, MPI_COMM_WORLD);
                }
            });
            exchange.run([&, tag] {
                int& value = got[static_cast<std::size_t>(tag)];
                if (tag % 4 < 2) {
                    receive(&value, peer(), tag);
                } else {
                    MPI_Recv(&value, 1, MPI_INT, peer(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
            });
        }
        exchange.wait();
        for (int tag = 0; tag < k_messages; ++tag) {
            EXPECT_EQ(got[static_cast<std::size_t>(tag)], tag + round);
        }
    }
}

}  // namespace
