// SPDX-License-Identifier: BSL-1.0
// Requests as futures, and requests bound to tasks: dependent tasks begin after the messages that
// the tasks before them have bound, and errors come out at the future or in the status.
#include "world.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/mpi/calls.hpp>
#include <quern/mpi/requests.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace {

using quern_test::own_comm;
using quern_test::this_world;

int peer() { return 1 - this_world().rank; }

class mpi_requests : public testing::TestWithParam<unsigned> {
protected:
    template <class F>
    void in_task(F f) {
        quern::async(rt, f).get();
    }

    /// Errors of requests reach the handler of their communicator or, with MPICH, of the world.
    void return_errors() {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    void TearDown() override { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }

    own_comm comm;
    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(on, mpi_requests, testing::Values(1U, 2U));

TEST_P(mpi_requests, a_future_tells_who_has_sent) {
    for (const bool is_task : {false, true}) {
        const auto exchange = [this] {
            int received = -1;
            MPI_Request request;
            MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &request);
            auto sender = quern::mpi::async(request).then(
                [](quern::future<MPI_Status> got) { return got.get().MPI_SOURCE; });
            const int value = 10 + this_world().rank;
            MPI_Send(&value, 1, MPI_INT, peer(), 3, comm);
            EXPECT_EQ(sender.get(), peer());
            EXPECT_EQ(received, 10 + peer());
        };
        if (is_task) {
            in_task(exchange);
        } else {
            exchange();
        }
    }
}

TEST_P(mpi_requests, a_null_request_is_ready) {
    EXPECT_EQ(quern::mpi::async(MPI_REQUEST_NULL).get().MPI_SOURCE, MPI_ANY_SOURCE);
}

TEST_P(mpi_requests, the_error_of_a_request_travels_to_its_future) {
    return_errors();
    std::array<int, 4> sent{};
    int received = 0;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, peer(), 4, comm, &request);
    auto ended = quern::mpi::async(request);
    MPI_Send(sent.data(), 4, MPI_INT, peer(), 4, comm);
    try {
        ended.get();
        FAIL() << "a truncated message is an error";
    } catch (const quern::mpi::error& e) {
        int kind = MPI_SUCCESS;
        MPI_Error_class(e.code(), &kind);
        EXPECT_EQ(kind, MPI_ERR_TRUNCATE);
    }
}

TEST_P(mpi_requests, a_bound_message_is_awaited_by_dependent_tasks) {
    in_task([this] {
        constexpr int k_messages = 16;
        quern::domain work;
        std::array<int, k_messages> received{};
        std::array<int, k_messages> sent{};
        int sum = 0;
        for (int i = 0; i < k_messages; ++i) {
            work.spawn(quern::out(received[static_cast<std::size_t>(i)]), [this, i](int& to) {
                MPI_Request request;
                MPI_Irecv(&to, 1, MPI_INT, peer(), i, comm, &request);
                quern::mpi::bind(request);
            });
            work.spawn(quern::in(received[static_cast<std::size_t>(i)]), quern::inout(sum),
                       [](const int& from, int& all) { all += from; });
        }
        for (int i = k_messages - 1; i >= 0; --i) {  // the last one first
            int& value = sent[static_cast<std::size_t>(i)];
            value = 100 * this_world().rank + i;
            work.spawn(quern::in(value), [this, i](const int& from) {
                quern::mpi::send(&from, 1, MPI_INT, peer(), i, comm);
            });
        }
        work.taskwait();
        EXPECT_EQ(sum, k_messages * 100 * peer() + k_messages * (k_messages - 1) / 2);
    });
}

TEST_P(mpi_requests, a_task_with_bound_requests_ends_after_them) {
    std::array<int, 3> received{};
    std::array<MPI_Status, 3> statuses{};
    auto receives = quern::async(rt, [&] {
        std::array<MPI_Request, 3> requests;
        for (int i = 0; i < 3; ++i) {
            MPI_Irecv(&received[static_cast<std::size_t>(i)], 1, MPI_INT, peer(), i, comm,
                      &requests[static_cast<std::size_t>(i)]);
        }
        quern::mpi::bind(requests, statuses);
    });
    for (int i = 0; i < 3; ++i) {
        MPI_Send(&i, 1, MPI_INT, peer(), i, comm);
    }
    receives.get();
    EXPECT_EQ(received, (std::array{0, 1, 2}));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(statuses[static_cast<std::size_t>(i)].MPI_TAG, i);
        EXPECT_EQ(statuses[static_cast<std::size_t>(i)].MPI_ERROR, MPI_SUCCESS);
    }
}

TEST_P(mpi_requests, the_error_of_a_bound_request_is_in_its_status) {
    return_errors();
    std::array<int, 4> sent{};
    int received = 0;
    MPI_Status status{};
    auto receives = quern::async(rt, [&] {
        MPI_Request request;
        MPI_Irecv(&received, 1, MPI_INT, peer(), 5, comm, &request);
        quern::mpi::bind(std::span<const MPI_Request>(&request, 1), std::span(&status, 1));
    });
    MPI_Send(sent.data(), 4, MPI_INT, peer(), 5, comm);
    receives.get();
    int kind = MPI_SUCCESS;
    MPI_Error_class(status.MPI_ERROR, &kind);
    EXPECT_EQ(kind, MPI_ERR_TRUNCATE);
}

TEST_P(mpi_requests, bind_says_what_it_needs) {
    EXPECT_THROW(quern::mpi::bind(MPI_REQUEST_NULL), std::logic_error);  // no task
    in_task([] {
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        std::array<MPI_Status, 1> statuses{};
        EXPECT_THROW(quern::mpi::bind(requests, statuses), std::invalid_argument);
        quern::mpi::bind(requests);
    });
}

}  // namespace
