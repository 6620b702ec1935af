// SPDX-License-Identifier: BSL-1.0
// One rank sends windows of 64 messages of 8 bytes, the other receives them and answers each
// window. The value is the time of a message, in microseconds. Size: windows.
#include "../harness/mpi.hpp"
#include "../../apps/mpi/common/messages.hpp"
#include "../harness/quern.hpp"

#include <quern/quern.hpp>

#include <array>
#include <cstddef>

namespace bench::mpi_rate {

namespace {

constexpr int k_window = 64;
using window = std::array<double, k_window>;

/// `exchange(data, is_sender)` sends or receives a window.
template <class Exchange>
measurement play(long windows, Exchange exchange) {
    const bool is_sender = ranks::rank() == 0;
    const int peer = is_sender ? 1 : 0;
    window data{};
    double sum = 0;
    const double begun = now();
    for (long w = 0; w < windows; ++w) {
        if (is_sender) {
            for (int i = 0; i < k_window; ++i) {
                data[static_cast<std::size_t>(i)] = static_cast<double>(w + i);
            }
        }
        exchange(data, is_sender, peer);
        for (const double each : data) {
            sum += each;
        }
        double answer = sum;
        if (is_sender) {
            MPI_Recv(&answer, 1, MPI_DOUBLE, peer, k_window, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(&answer, 1, MPI_DOUBLE, peer, k_window, MPI_COMM_WORLD);
        }
        expect_equal("the sum of what was received", answer, sum);
    }
    return {1e6 * (now() - begun) / static_cast<double>(windows * k_window),
            static_cast<int>(windows),
            {}};
}

/// Requests of one task or thread, waited for together.
void by_requests(window& data, bool is_sender, int peer) {
    std::array<MPI_Request, k_window> requests;
    for (int i = 0; i < k_window; ++i) {
        double& one = data[static_cast<std::size_t>(i)];
        MPI_Request& made = requests[static_cast<std::size_t>(i)];
        if (is_sender) {
            MPI_Isend(&one, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &made);
        } else {
            MPI_Irecv(&one, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &made);
        }
    }
    MPI_Waitall(k_window, requests.data(), MPI_STATUSES_IGNORE);
}

/// A task for each message, with a blocking call.
void by_tasks(window& data, bool is_sender, int peer) {
    quern::task_group all;
    for (int i = 0; i < k_window; ++i) {
        all.run([&one = data[static_cast<std::size_t>(i)], i, is_sender, peer] {
            if (is_sender) {
                MPI_Send(&one, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD);
            } else {
                MPI_Recv(&one, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        });
    }
    all.wait();
}

/// A dependent task for each message.
void by_dependent_tasks(window& data, bool is_sender, int peer) {
    quern::domain all;
    for (int i = 0; i < k_window; ++i) {
        all.spawn({.name = "message", .communication = true},
                  quern::inout(data[static_cast<std::size_t>(i)]),
                  [i, is_sender, peer, one = apps::mpi::message()](double& number) mutable {
                      if (is_sender) {
                          one.send(&number, 1, peer, i);
                      } else {
                          one.receive(&number, 1, peer, i);
                      }
                  });
    }
    all.taskwait();
}

const contender raw{
    "mpi_rate", "raw", [](const arguments& a) {
        return ranks::together([windows = a.size] { return play(windows, by_requests); });
    }};

const contender task{"mpi_rate", "task", [](const arguments& a) {
                         return ranks::together(quern_job(
                             a, [windows = a.size] { return play(windows, by_requests); }));
                     }};

const contender tasks{"mpi_rate", "tasks", [](const arguments& a) {
                          return ranks::together(
                              quern_job(a, [windows = a.size] { return play(windows, by_tasks); }));
                      }};

const ranks::by_each_mechanism dependent{
    "mpi_rate", "dependent", [](const arguments& a) {
        return ranks::together(
            quern_job(a, [windows = a.size] { return play(windows, by_dependent_tasks); }));
    }};

}  // namespace

}  // namespace bench::mpi_rate
