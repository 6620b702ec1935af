/* SPDX-License-Identifier: BSL-1.0
 * Figure 5.2 of Marjanovic's thesis: a receive operation by the restart mechanism. Where the figure
 * has <type> here is double, and its dots are filled in. The last rank receives from the first. */
#include <mpi.h>
#include <stdio.h>

enum { count = 1000 };

#pragma css task output(buf, req)
static void recv(double buf[count], MPI_Request *req) {
    MPI_Irecv(buf, count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, req);
}

#pragma css task input(req)
static void wait(MPI_Request *req) {
    int go;
    MPI_Status status;
    MPI_Test(req, &go, &status);
    if (go == 0) {
#pragma css restart
        MPI_Wait(req, &status);
    }
}

static double work[8];

#pragma css task inout(sum)
static void compute(double *sum) {
    for (int i = 0; i < 100000; i++) {
        *sum += i % 7;
    }
}

static void application_receive(double *buf, MPI_Request *req) {
    recv(buf, req);
    wait(req);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double buf[count], sum = 0;
    MPI_Request req;
#pragma css start
    if (rank == size - 1) {
        application_receive(buf, &req);
    }
    for (int i = 0; i < 8; i++) {
        compute(&work[i]);
    }
#pragma css barrier
    if (rank == 0) {
        for (int i = 0; i < count; i++) {
            buf[i] = i;
        }
        MPI_Send(buf, count, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD);
    }
#pragma css finish
    for (int i = 0; i < 8; i++) {
        sum += work[i];
    }
    for (int i = 0; i < count && rank == size - 1; i++) {
        sum += buf[i];
    }
    if (rank == size - 1) {
        printf("checksum %.1f\n", sum);
    }
    MPI_Finalize();
    return 0;
}
