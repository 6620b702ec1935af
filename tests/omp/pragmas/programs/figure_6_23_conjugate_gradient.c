/* SPDX-License-Identifier: BSL-1.0
 * Figure 6.23 of Marjanovic's thesis: the main loop of a conjugate gradient. The figure prints
 * "css input" for "css task input", and one parenthesis too many. */
#include <mpi.h>
#include <stdio.h>

static int q_size, buf_size;

#pragma css task input(q[q_size]) output(send_buffer[buf_size])
void fill_buffers(double *q, double *send_buffer);

#pragma css task input(send_buffer[buf_size]) output(recv_buffer[buf_size]) target(comm_thread)
void all_to_all (double *send_buffer, double *recv_buffer);

#pragma css task input(q[q_size]) output(v[q_size])
void mult_volume(double *v, double *q);

#pragma css task input(q[q_size],recv_buffer[buf_size]) output(v[q_size])
void mult_boundaries(double *v, double *q, double *recv_buffer);

#pragma css task input(v[q_size]) output(q[q_size])
void next(double *v, double *q);

static int rank, size;

void fill_buffers(double *q, double *send_buffer) {
    for (int i = 0; i < buf_size; i++) {
        send_buffer[i] = q[i % q_size];
    }
}

void all_to_all(double *send_buffer, double *recv_buffer) {
    MPI_Alltoall(send_buffer, buf_size / size, MPI_DOUBLE, recv_buffer, buf_size / size, MPI_DOUBLE,
                 MPI_COMM_WORLD);
}

void mult_volume(double *v, double *q) {
    for (int i = 0; i < q_size; i++) {
        v[i] = 2 * q[i] - q[(i + 1) % q_size];
    }
}

void mult_boundaries(double *v, double *q, double *recv_buffer) {
    for (int i = 0; i < buf_size; i++) {
        v[i % q_size] += 0.5 * recv_buffer[i] - 0.25 * q[i % q_size];
    }
}

void next(double *v, double *q) {
    for (int i = 0; i < q_size; i++) {
        q[i] = v[i] / 4;
    }
}

int main(int argc, char **argv) {
    static double q[4096], v[4096], send_buffer[512], recv_buffer[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    q_size = 4096;
    buf_size = 512 / size * size;
    for (int i = 0; i < q_size; i++) {
        q[i] = rank + i % 17;
    }
    for (int step = 0; step < 10; step++) {
        fill_buffers(q, send_buffer);
        all_to_all(send_buffer, recv_buffer);
        mult_volume(v, q);
        mult_boundaries(v, q, recv_buffer);
        next(v, q);
    }
#pragma css wait on(q[q_size])
    double sum = 0, all = 0;
    for (int i = 0; i < q_size; i++) {
        sum += q[i] * i;
    }
#pragma css barrier
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("checksum %.6f\n", all);
    }
    MPI_Finalize();
    return 0;
}
