// SPDX-License-Identifier: BSL-1.0
// A program that opens a session and never calls MPI_Init, so that there is no MPI_COMM_WORLD whose
// error handler this layer could look at. Its calls are made in tasks, and outside beside a living
// runtime. Returns 1 when something is wrong.
#include <quern/quern.hpp>

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace {

int g_wrong = 0;

void expect(bool is_right, const char* what) {
    if (!is_right) {
        std::printf("wrong: %s\n", what);
        ++g_wrong;
    }
}

void exchange(MPI_Comm all) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;

    int received = -1;
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_INT, left, 1, all, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, right, 1, all, &requests[1]);
    expect(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "MPI_Waitall");
    expect(received == left, "what MPI_Waitall has waited for");

    int sum = 0;
    expect(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all) == MPI_SUCCESS, "MPI_Allreduce");
    expect(sum == size * (size - 1) / 2, "the sum");
}

}  // namespace

int main() {
    const char* const limit = std::getenv("TEST_MPI_SECONDS");
    alarm(limit != nullptr ? static_cast<unsigned>(std::atoi(limit)) : 0);
    const quern::runtime runtime(quern::runtime_options::with_workers(2));
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Info level = MPI_INFO_NULL;
    MPI_Info_create(&level);
    MPI_Info_set(level, "thread_level", "MPI_THREAD_SERIALIZED");
    MPI_Session_init(level, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&level);
    MPI_Group_from_session_pset(session, "mpi://world", &world);
    MPI_Comm_create_from_group(world, "quern", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    MPI_Group_free(&world);

    exchange(all);
    quern::async([all] { exchange(all); }).get();

    MPI_Comm_free(&all);
    MPI_Session_finalize(&session);
    std::printf("%d wrong\n", g_wrong);
    return g_wrong == 0 ? 0 : 1;
}
