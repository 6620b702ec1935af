// SPDX-License-Identifier: BSL-1.0
// A tool that defines MPI's functions (counting_tool.cpp) sees the calls that this layer makes of
// the library, whether the program was linked with it or it is preloaded, and follows each request
// from its beginning to its end.
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <array>
#include <vector>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

template <class F>
F* of_tool(const char* name) {
    return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
}

/// Calls of a function that the tool sees from now on.
class seen_calls {
public:
    explicit seen_calls(const char* name) : m_name(name), m_before(all()) {}
    int count() const { return all() - m_before; }

private:
    int all() const {
        auto* const calls_of = of_tool<int(const char*)>("counting_tool_calls_of");
        return calls_of != nullptr ? calls_of(m_name) : -1;
    }

    const char* const m_name;
    const int m_before;
};

int open_requests() {
    auto* const open = of_tool<int()>("counting_tool_open_requests");
    return open != nullptr ? open() : -1;
}

int peer() { return 1 - this_world().rank; }

class mpi_tools : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_GE(open_requests(), 0) << "this process has no tool";
        ASSERT_EQ(open_requests(), 0);
    }
    void TearDown() override { EXPECT_EQ(open_requests(), 0) << "it did not see how they ended"; }

    own_comm comm;
};

TEST_F(mpi_tools, see_how_mpi_is_initialised) {
    auto* const calls_of = of_tool<int(const char*)>("counting_tool_calls_of");
    EXPECT_EQ(calls_of("MPI_Init_thread"), 1);
}

TEST_F(mpi_tools, see_calls_without_a_runtime_as_they_are) {
    const seen_calls exchanges("MPI_Sendrecv");
    const seen_calls sent("MPI_Send");
    const seen_calls received("MPI_Recv");
    int got = -1;
    MPI_Sendrecv(&this_world().rank, 1, MPI_INT, peer(), 0, &got, 1, MPI_INT, peer(), 0, comm,
                 MPI_STATUS_IGNORE);
    EXPECT_EQ(got, peer());
    if (this_world().rank == 0) {
        MPI_Send(&got, 1, MPI_INT, 1, 1, comm);
    } else {
        MPI_Recv(&got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    }
    EXPECT_EQ(exchanges.count(), 1);
    EXPECT_EQ(sent.count(), 1 - this_world().rank);
    EXPECT_EQ(received.count(), this_world().rank);
}

TEST_F(mpi_tools, see_the_non_blocking_form_of_calls_in_tasks) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    const seen_calls blocking("MPI_Send");
    const seen_calls sent("MPI_Isend");
    const seen_calls received("MPI_Irecv");
    const seen_calls tests("MPI_Test");
    constexpr int k_messages = 20;
    std::array<int, k_messages> got{};
    quern::task_group exchange(rt.default_pool());
    for (int tag = 0; tag < k_messages; ++tag) {
        exchange.run([&, tag] {
            MPI_Recv(&got[static_cast<std::size_t>(tag)], 1, MPI_INT, peer(), tag, comm,
                     MPI_STATUS_IGNORE);
        });
        exchange.run([&, tag] { MPI_Send(&tag, 1, MPI_INT, peer(), tag, comm); });
    }
    exchange.wait();
    for (int tag = 0; tag < k_messages; ++tag) {
        EXPECT_EQ(got[static_cast<std::size_t>(tag)], tag);
    }
    EXPECT_EQ(blocking.count(), 0);
    EXPECT_EQ(sent.count(), k_messages);
    EXPECT_EQ(received.count(), k_messages);
    EXPECT_GE(tests.count(), 2 * k_messages) << "each is tested when it has been posted";
}

TEST_F(mpi_tools, see_collective_calls_by_their_non_blocking_form) {
    const seen_calls blocking("MPI_Allreduce");
    const seen_calls posted("MPI_Iallreduce");
    const auto sum = [this] {
        int all = 0;
        MPI_Allreduce(&this_world().size, &all, 1, MPI_INT, MPI_SUM, comm);
        return all;
    };
    EXPECT_EQ(sum(), 4);
    quern::runtime rt(quern::runtime_options::with_workers(1));
    EXPECT_EQ(sum(), 4);
    EXPECT_EQ(quern::async(rt, sum).get(), 4);
    EXPECT_EQ(blocking.count(), 0);
    EXPECT_EQ(posted.count(), 3);
}

TEST_F(mpi_tools, see_calls_without_a_non_blocking_form) {
    const seen_calls splits("MPI_Comm_split");
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [this] {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_split(comm, 0, 0, &made);
        MPI_Comm_free(&made);
    }).get();
    EXPECT_EQ(splits.count(), 1);
}

TEST_F(mpi_tools, see_the_end_of_requests_of_the_program) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto exchange = [this](auto wait) {
        std::array<int, 2> got{-1, -1};
        std::array<MPI_Request, 4> all{};
        for (int i = 0; i < 2; ++i) {
            const auto at = static_cast<std::size_t>(i);
            MPI_Irecv(&got[at], 1, MPI_INT, peer(), i, comm, &all[at]);
            MPI_Isend(&this_world().rank, 1, MPI_INT, peer(), i, comm, &all[at + 2]);
        }
        wait(all);
        EXPECT_EQ(got[0] + got[1], 2 * peer());
    };
    const auto by_waits = [](std::array<MPI_Request, 4>& all) {
        MPI_Wait(&all[0], MPI_STATUS_IGNORE);
        int which = 0;
        MPI_Waitany(4, all.data(), &which, MPI_STATUS_IGNORE);
        MPI_Waitall(4, all.data(), MPI_STATUSES_IGNORE);
    };
    const auto by_tests = [](std::array<MPI_Request, 4>& all) {
        for (int has_ended = 0; has_ended == 0;) {
            MPI_Testall(4, all.data(), &has_ended, MPI_STATUSES_IGNORE);
        }
    };
    exchange(by_tests);
    quern::async(rt, [&] { exchange(by_waits); }).get();
    quern::async(rt, [&] { exchange(by_tests); }).get();
    quern::async(rt, [this] {
        int value = this_world().rank;
        MPI_Sendrecv_replace(&value, 1, MPI_INT, peer(), 7, peer(), 7, comm, MPI_STATUS_IGNORE);
        EXPECT_EQ(value, peer());
    }).get();
}

}  // namespace
