// SPDX-License-Identifier: BSL-1.0
#include "messages.hpp"

#include <quern/mpi/requests.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <array>
#include <vector>

namespace {

using integers = std::array<int, 4>;

struct posted_pairs {
    integers in{};
    integers out{};
    std::array<MPI_Request, 8> requests{};
};

/// Four receives and four sends, none of them waited for. Ends 0 to 3 are the receives.
void post(posted_pairs& p, int other, int tag, MPI_Comm comm) {
    for (int i = 0; i < 4; ++i) {
        MPI_Irecv(&p.in[i], 1, MPI_INT, other, tag, comm, &p.requests[i]);
    }
    for (int i = 0; i < 4; ++i) {
        p.out[i] = i;
        MPI_Isend(&p.out[i], 1, MPI_INT, other, tag, comm, &p.requests[4 + i]);
    }
}

/// Each way to complete requests, with and without statuses.
void complete_in_each_way(int other, MPI_Comm comm) {
    posted_pairs p;
    post(p, other, 1, comm);
    MPI_Waitall(8, p.requests.data(), MPI_STATUSES_IGNORE);
    post(p, other, 1, comm);
    std::array<MPI_Status, 8> statuses;
    MPI_Waitall(8, p.requests.data(), statuses.data());
    post(p, other, 2, comm);
    for (MPI_Request& each : p.requests) {
        MPI_Wait(&each, MPI_STATUS_IGNORE);
    }
    post(p, other, 2, comm);
    for (int i = 0, index = 0; i < 8; ++i) {
        MPI_Waitany(8, p.requests.data(), &index, MPI_STATUS_IGNORE);
    }
    post(p, other, 3, comm);
    std::array<int, 8> indices{};
    for (int all = 0, ended = 0; all < 8; all += ended) {
        MPI_Waitsome(8, p.requests.data(), &ended, indices.data(), MPI_STATUSES_IGNORE);
    }
    post(p, other, 3, comm);
    for (MPI_Request& each : p.requests) {
        for (int found = 0; found == 0;) {
            MPI_Test(&each, &found, MPI_STATUS_IGNORE);
        }
    }
    post(p, other, 4, comm);
    for (int found = 0; found == 0;) {
        MPI_Testall(8, p.requests.data(), &found, MPI_STATUSES_IGNORE);
    }
    post(p, other, 4, comm);
    for (int all = 0, found = 0, index = 0; all < 8; all += found) {
        MPI_Testany(8, p.requests.data(), &index, &found, MPI_STATUS_IGNORE);
    }
    post(p, other, 5, comm);
    for (int all = 0, ended = 0; all < 8; all += ended) {
        MPI_Testsome(8, p.requests.data(), &ended, indices.data(), MPI_STATUSES_IGNORE);
    }
    post(p, other, 5, comm);
    std::vector<quern::future<MPI_Status>> futures;
    for (const MPI_Request each : p.requests) {
        futures.push_back(quern::mpi::async(each));
    }
    for (auto& each : futures) {
        each.get();
    }
}

/// Calls that wait, from any source and with any tag too.
void pass_by_waiting(int rank, MPI_Comm comm) {
    const int other = 1 - rank;
    int in = 0;
    int out = rank;
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == rank) {
            MPI_Send(&out, 1, MPI_INT, other, 10, comm);
            MPI_Ssend(&out, 1, MPI_INT, other, 11, comm);
            MPI_Send(&out, 1, MPI_INT, other, 12, comm);
            MPI_Send(&out, 1, MPI_INT, other, 13, comm);
        } else {
            MPI_Recv(&in, 1, MPI_INT, other, 10, comm, MPI_STATUS_IGNORE);
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Mprobe(other, 12, comm, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            for (int found = 0; found == 0;) {
                MPI_Improbe(MPI_ANY_SOURCE, 13, comm, &found, &message, MPI_STATUS_IGNORE);
            }
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Sendrecv(&out, 1, MPI_INT, other, 14, &in, 1, MPI_INT, other, 14, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&out, 1, MPI_INT, other, 14, other, 14, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 15, comm, MPI_STATUS_IGNORE);
}

void pass_by_persistent_requests(int other, MPI_Comm comm) {
    int in = 0;
    int out = 1;
    std::array<MPI_Request, 2> requests{};
    MPI_Recv_init(&in, 1, MPI_INT, other, 20, comm, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, other, 20, comm, &requests[1]);
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/// A large message arrives after a small one that was sent later: they belong to the receives in
/// the order in which those were posted.
void overtake(int rank) {
    constexpr int k_large = 1 << 18;
    std::vector<int> large(k_large);
    int small = 0;
    std::array<MPI_Request, 2> requests{};
    if (rank == 0) {
        MPI_Isend(large.data(), k_large, MPI_INT, 1, 30, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&small, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &requests[1]);
    } else {
        MPI_Irecv(large.data(), k_large, MPI_INT, 0, 30, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&small, 1, MPI_INT, 0, 30, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

}  // namespace

void pass_messages_of_all_kinds(int rank) {
    const int other = 1 - rank;
    // Members in the other order, so that ranks differ from those of the world.
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(turned, &copy);
    quern::task_group all;
    for (const MPI_Comm comm : {MPI_COMM_WORLD, turned, copy}) {
        all.run([=] {
            int here = 0;
            MPI_Comm_rank(comm, &here);
            complete_in_each_way(1 - here, comm);
            pass_by_waiting(here, comm);
            pass_by_persistent_requests(1 - here, comm);
        });
    }
    all.wait();
    quern::async([=] { overtake(rank); }).get();
    quern::domain work;
    int bound = 0;
    int sent = rank;
    work.spawn(quern::out(bound), [other](int& into) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&into, 1, MPI_INT, other, 41, MPI_COMM_WORLD, &request);
        quern::mpi::bind(request);
    });
    work.spawn([other, &sent] { MPI_Send(&sent, 1, MPI_INT, other, 41, MPI_COMM_WORLD); });
    work.taskwait();
    pass_by_waiting(rank, MPI_COMM_WORLD);  // outside of tasks
    complete_in_each_way(other, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&turned);
}
