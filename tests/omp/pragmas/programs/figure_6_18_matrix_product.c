/* SPDX-License-Identifier: BSL-1.0
 * Figure 6.18 of Marjanovic's thesis: a product of matrices. Each rank has a part of A and of B; the
 * parts of A travel around the ring. */
#include <mpi.h>
#include <stdio.h>

#define N 128
#define BS 16

#pragma css task input(A, B) inout(C)
void mxm (double A[BS][N], double B[N][BS], double C[BS][BS]);

#pragma css task input(src) output(dest) target(comm_thread)
void SendRecv (double src[BS][N], double dest[BS][N]);

static int rank, size;

void mxm(double A[BS][N], double B[N][BS], double C[BS][BS]) {
    for (int i = 0; i < BS; i++) {
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < BS; j++) {
                C[i][j] += A[i][k] * B[k][j];
            }
        }
    }
}

void SendRecv(double src[BS][N], double dest[BS][N]) {
    MPI_Sendrecv(src, BS * N, MPI_DOUBLE, (rank + 1) % size, 4, dest, BS * N, MPI_DOUBLE,
                 (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

enum { most_ranks = 8 };
static double A[2][BS][N], B[4][N][BS], C[4][most_ranks][BS][BS];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < BS; i++) {
        for (int j = 0; j < N; j++) {
            A[0][i][j] = rank + i % 3 - j % 5;
            for (int b = 0; b < 4; b++) {
                B[b][j][i] = (rank + b + i + j) % 7;
            }
        }
    }
    for (int step = 0; step < size && step < most_ranks; step++) {
        for (int b = 0; b < 4; b++) {
            mxm(A[step % 2], B[b], C[b][(rank + size - step) % size]);
        }
        SendRecv(A[step % 2], A[(step + 1) % 2]);
    }
#pragma css barrier
    double sum = 0, all = 0;
    for (int b = 0; b < 4; b++) {
        for (int i = 0; i < most_ranks * BS * BS; i++) {
            sum += C[b][0][0][i] * (i % 13 + b);
        }
    }
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("checksum %.1f\n", all);
    }
    MPI_Finalize();
    return 0;
}
