/* SPDX-License-Identifier: BSL-1.0
 * Figure 7.3 of Marjanovic's thesis: Jacobi's iteration, whose exchange of boundaries overlaps with
 * the block. The parameters that the figure prints as arrays of pointers are arrays of double. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { nx = 64, ny = 200 };

static int rank, size;

#pragma css task input(send_up, send_down) output(recv_up, recv_down) target(comm_thread)
void exch_boundaries(double send_up[ny],
    double recv_up[ny],
    double send_down[ny],
    double recv_down[ny])
{
    const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(send_up, ny, MPI_DOUBLE, up, 5, recv_down, ny, MPI_DOUBLE, down, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(send_down, ny, MPI_DOUBLE, down, 6, recv_up, ny, MPI_DOUBLE, up, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

#pragma css task input(a) output(b)
void compute_row(double a[3][ny], double b[ny]);

#pragma css task input(a) output(b)
void compute_block(double a[nx][ny], double b[nx-2][ny]);

void compute_row(double a[3][ny], double b[ny]) {
    b[0] = a[1][0];
    b[ny - 1] = a[1][ny - 1];
    for (int j = 1; j + 1 < ny; j++) {
        b[j] = (a[0][j] + a[1][j - 1] + a[1][j + 1] + a[2][j]) / 4;
    }
}

void compute_block(double a[nx][ny], double b[nx - 2][ny]) {
    for (int i = 0; i < nx - 2; i++) {
        (compute_row)(&a[i], b[i]);
    }
}

static double first[nx + 2][ny], second[nx + 2][ny];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < nx + 2; i++) {
        for (int j = 0; j < ny; j++) {
            first[i][j] = (rank * nx + i + j) % 10;
        }
    }
    memcpy(second, first, sizeof(first));
    double (*a)[ny] = first, (*b)[ny] = second;
    for (int step = 0; step < 20; step++) {
        double (*tmp)[ny];
        compute_row(&a[0], &b[1][0]);
        compute_row(&a[nx - 1], &b[nx][0]);
        compute_block(&a[1], &b[2]);
        exch_boundaries(&b[1][0], &b[0][0], &b[nx][0], &b[nx + 1][0]);
        tmp = a, a = b, b = tmp;
    }
#pragma css barrier
    double sum = 0, all = 0;
    for (int i = 1; i <= nx; i++) {
        for (int j = 0; j < ny; j++) {
            sum += a[i][j] * (i + j);
        }
    }
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("checksum %.6f\n", all);
    }
    MPI_Finalize();
    return 0;
}
