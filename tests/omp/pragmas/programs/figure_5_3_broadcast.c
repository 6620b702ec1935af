/* SPDX-License-Identifier: BSL-1.0
 * Figure 5.3 of Marjanovic's thesis: a broadcast by the restart mechanism. The figure prints
 * "output(reg)" for a parameter that is called req. */
#include <mpi.h>
#include <stdio.h>

enum { N = 100, nb = 10 };

#pragma css task input(buf) output(req)
static void send(double buf[N * nb], MPI_Request *req);

#pragma css task input(req)
static void wait(MPI_Request *req);

#pragma css task output(buf, req)
static void recv(double buf[N * nb], MPI_Request *req);

static int rank, size;
static MPI_Request req_send, req_recv, req_forward;

static void send(double buf[N * nb], MPI_Request *req) {
    MPI_Isend(buf, N * nb, MPI_DOUBLE, rank + 1, 2, MPI_COMM_WORLD, req);
}

static void recv(double buf[N * nb], MPI_Request *req) {
    MPI_Irecv(buf, N * nb, MPI_DOUBLE, rank - 1, 2, MPI_COMM_WORLD, req);
}

static void wait(MPI_Request *req) {
    int go;
    MPI_Test(req, &go, MPI_STATUS_IGNORE);
    if (go == 0) {
#pragma css restart
        MPI_Wait(req, MPI_STATUS_IGNORE);
    }
}

static void broadcast(int root, double buf[N * nb]) {
    const int necessary = rank + 1 < size;
    if (root) {
        send(buf, &req_send);
        wait(&req_send);
    } else {
        recv(buf, &req_recv);
        wait(&req_recv);
        if (necessary) {
#pragma css barrier
            send(buf, &req_forward);
            wait(&req_forward);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static double buf[N * nb];
    double sum = 0;
    for (int step = 0; step < 5; step++) {
        for (int i = 0; rank == 0 && i < N * nb; i++) {
            buf[i] = i + step;
        }
        broadcast(rank == 0, buf);
#pragma css barrier
        for (int i = 0; i < N * nb; i++) {
            sum += buf[i];
        }
    }
    if (rank == size - 1) {
        printf("checksum %.1f\n", sum);
    }
    MPI_Finalize();
    return 0;
}
