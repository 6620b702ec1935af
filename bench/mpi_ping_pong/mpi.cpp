// SPDX-License-Identifier: BSL-1.0
// A message goes back and forth between two ranks. The value is the time of one way,
// in microseconds. Size: bytes.
#include "../harness/mpi.hpp"
#include "../../apps/mpi/common/messages.hpp"
#include "../harness/quern.hpp"

#include <quern/quern.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench::mpi_ping_pong {

namespace {

constexpr double k_bytes = 2e8;  // of a repetition, at most; and at most k_trips round trips
constexpr long k_trips = 20'000;

long trips_of(long bytes) {
    return std::clamp(static_cast<long>(k_bytes / static_cast<double>(2 * bytes)), 50L, k_trips);
}

measurement play(long bytes) {
    std::vector<unsigned char> ball(static_cast<std::size_t>(bytes));
    const long trips = trips_of(bytes);
    const int count = static_cast<int>(bytes);
    const bool is_first = ranks::rank() == 0;
    const int peer = is_first ? 1 : 0;
    auto receive = [&] {
        MPI_Recv(ball.data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    auto send = [&] { MPI_Send(ball.data(), count, MPI_BYTE, peer, 0, MPI_COMM_WORLD); };
    const double begun = now();
    for (long i = 0; i < trips; ++i) {
        const auto stamp = static_cast<unsigned char>(i);
        if (is_first) {
            ball.front() = ball.back() = stamp;
            send();
            receive();
        } else {
            receive();
            ++ball.front();
            ball.back() = ball.front();
            send();
        }
        expect_equal("the stamp of a message", static_cast<int>(ball.back()),
                     static_cast<int>(static_cast<unsigned char>(stamp + 1)));
    }
    return {1e6 * (now() - begun) / static_cast<double>(2 * trips), static_cast<int>(trips), {}};
}

const contender raw{"mpi_ping_pong", "raw", [](const arguments& a) {
                        return ranks::together([bytes = a.size] { return play(bytes); });
                    }};

const contender tasks{
    "mpi_ping_pong", "tasks", [](const arguments& a) {
        return ranks::together(quern_job(a, [bytes = a.size] { return play(bytes); }));
    }};

/// A dependent task sends the ball, another one receives it, and so on.
measurement play_by_dependent_tasks(long bytes) {
    std::vector<double> ball((static_cast<std::size_t>(bytes) + sizeof(double) - 1) /
                             sizeof(double));
    const auto count = static_cast<int>(ball.size());
    const long trips = trips_of(bytes);
    const bool is_first = ranks::rank() == 0;
    const int peer = is_first ? 1 : 0;
    quern::domain game;
    const auto send = [&] {
        game.spawn({.name = "send", .communication = true}, quern::inout(ball),
                   [count, peer, one = apps::mpi::message()](auto what) mutable {
                       one.send(what.data(), count, peer, 0);
                   });
    };
    const auto receive = [&] {
        game.spawn({.name = "receive", .communication = true}, quern::inout(ball),
                   [count, peer, one = apps::mpi::message()](auto what) mutable {
                       one.receive(what.data(), count, peer, 0);
                       what.back() += 1;
                   });
    };
    const double begun = now();
    for (long i = 0; i < trips; ++i) {
        if (is_first) {
            send();
            receive();
        } else {
            receive();
            send();
        }
    }
    game.taskwait();
    const double seconds = now() - begun;
    expect_equal("what all receipts have added", ball.back(),
                 static_cast<double>(is_first ? 2 * trips : 2 * trips - 1));
    return {1e6 * seconds / static_cast<double>(2 * trips), static_cast<int>(trips), {}};
}

const ranks::by_each_mechanism dependent{"mpi_ping_pong", "dependent", [](const arguments& a) {
                                             return ranks::together(quern_job(a, [bytes = a.size] {
                                                 return play_by_dependent_tasks(bytes);
                                             }));
                                         }};

/// The main thread, while a runtime lives.
const contender outside{
    "mpi_ping_pong", "outside", [](const arguments& a) {
        return ranks::together([rt = quern_runtime(a), bytes = a.size] { return play(bytes); });
    }};

}  // namespace

}  // namespace bench::mpi_ping_pong
