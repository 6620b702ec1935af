/* SPDX-License-Identifier: BSL-1.0
 * Figure 6.6 of Marjanovic's thesis: the factorization and the update of HPL as tasks, on one
 * process, without pivoting. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 384
#define NB 32
#define P 1
#define NUM_OF_SMP_CPUS 1
#define PANELS (N / NB)

#pragma css task input(A) output(tmp_panel)highpriority
void factorization (double A[N/P][NB],double tmp_panel[N/P][NB]);

#pragma css task input(tmp_panel) inout(A)
void update (double tmp_panel[N/P][NB], double A[N/(P*NUM_OF_SMP_CPUS)][NB]);

#pragma css task input(tmp_panel) inout(A) highpriority
void urgent_update(double tmp_panel[N / P][NB], double A[N / P][NB]);

static double matrix[PANELS][N][NB], panel[PANELS][N][NB];

void factorization(double A[N / P][NB], double tmp_panel[N / P][NB]) {
    const int first = (int)((A - matrix[0]) / N) * NB;
    memcpy(tmp_panel, A, sizeof(matrix[0]));
    for (int j = 0; j < NB; j++) {
        for (int i = first + j + 1; i < N; i++) {
            const double factor = tmp_panel[i][j] /= tmp_panel[first + j][j];
            for (int k = j + 1; k < NB; k++) {
                tmp_panel[i][k] -= factor * tmp_panel[first + j][k];
            }
        }
    }
}

void update(double tmp_panel[N / P][NB], double A[N / (P * NUM_OF_SMP_CPUS)][NB]) {
    const int first = (int)((tmp_panel - panel[0]) / N) * NB;
    for (int j = 0; j < NB; j++) {
        for (int i = first + j + 1; i < N; i++) {
            for (int k = 0; k < NB; k++) {
                A[i][k] -= tmp_panel[i][j] * A[first + j][k];
            }
        }
    }
}

void urgent_update(double tmp_panel[N / P][NB], double A[N / P][NB]) { (update)(tmp_panel, A); }

static double element(int i, int j) { return i == j ? N : 1.0 / (1 + (i * 7 + j * 3) % 11); }

int main(void) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            matrix[j / NB][i][j % NB] = element(i, j);
        }
    }
    for (int j = 0; j < PANELS; j++) {
        factorization(matrix[j], panel[j]);
        for (int k = j + 1; k < PANELS; k++) {
            if (k == j + 1) {
                urgent_update(panel[j], matrix[k]);
            } else {
                update(panel[j], matrix[k]);
            }
        }
    }
#pragma css barrier
    double error = 0, checksum = 0;
    for (int i = 0; i < N; i += 5) {
        checksum += panel[i / NB][i][i % NB];
        for (int j = 0; j < N; j += 3) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++) {
                const double lower = k == i ? 1 : panel[k / NB][i][k % NB];
                const double upper = k / NB == j / NB ? panel[j / NB][k][j % NB] : matrix[j / NB][k][j % NB];
                sum += lower * upper;
            }
            error = fmax(error, fabs(sum - element(i, j)));
        }
    }
    printf("checksum %.6f %s\n", checksum, error < 1e-9 ? "right" : "wrong");
    return error < 1e-9 ? 0 : 1;
}
