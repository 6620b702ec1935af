/* SPDX-License-Identifier: BSL-1.0
 * Figure 5.5 of Marjanovic's thesis: a broadcast by blocking calls in tasks of the communication
 * thread. */
#include <mpi.h>
#include <stdio.h>

enum { count = 500 }; /* the figure's shape buf[count] stands before its parameter count */

static int rank, size, next_proc, prev_proc;

#pragma css task input(buf, count) target(comm_thread)
static void send (double buf[count], int count){
    MPI_Send(buf, count, MPI_DOUBLE, next_proc, 3, MPI_COMM_WORLD);
}
#pragma css task input(count) output(buf) target(comm_thread)
static void recv (double buf[count], int count){
    MPI_Recv(buf, count, MPI_DOUBLE, prev_proc, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void broadcast(int root, double *buf) {
    if (root) {
        send(buf, count);
    } else {
        recv(buf, count);
        if (next_proc < size) {
            send(buf, count);
        }
    }
}

#pragma css task input(buf[n]) inout(sum)
static void add(const double *buf, int n, double *sum) {
    for (int i = 0; i < n; i++) {
        *sum += buf[i];
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next_proc = rank + 1;
    prev_proc = rank - 1;
    enum { steps = 6 };
    static double buf[steps][count];
    double sum = 0;
    for (int step = 0; step < steps; step++) {
        for (int i = 0; rank == 0 && i < count; i++) {
            buf[step][i] = i * step;
        }
        broadcast(rank == 0, buf[step]);
        add(buf[step], count, &sum);
    }
#pragma css barrier
    if (rank == size - 1) {
        printf("checksum %.1f\n", sum);
    }
    MPI_Finalize();
    return 0;
}
