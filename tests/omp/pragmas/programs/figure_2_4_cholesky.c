/* SPDX-License-Identifier: BSL-1.0
 * Figure 2.4 of Marjanovic's thesis: Cholesky by tiles, with its pragmas as printed. The BLAS calls
 * are written out. Prints the largest difference between L * L^T and the matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#pragma omp task input(NB) inout(A)
void spotrf_tile(float *A, unsigned long NB);

#pragma omp task input(A, B, NB) inout(C)
void sgemm_tile(float *A, float *B, float *C, unsigned long NB);

#pragma omp task input(T, NB) inout(B)
void strsm_tile(float *T, float *B, unsigned long NB);

#pragma omp task input(A, NB) inout(C)
void ssyrk_tile( float *A, float *C, long NB);

void spotrf_tile(float *A, unsigned long NB) {
    for (unsigned long j = 0; j < NB; j++) {
        for (unsigned long k = 0; k < j; k++) {
            A[j * NB + j] -= A[j * NB + k] * A[j * NB + k];
        }
        A[j * NB + j] = sqrtf(A[j * NB + j]);
        for (unsigned long i = j + 1; i < NB; i++) {
            for (unsigned long k = 0; k < j; k++) {
                A[i * NB + j] -= A[i * NB + k] * A[j * NB + k];
            }
            A[i * NB + j] /= A[j * NB + j];
        }
    }
}

void sgemm_tile(float *A, float *B, float *C, unsigned long NB) {
    for (unsigned long i = 0; i < NB; i++) {
        for (unsigned long j = 0; j < NB; j++) {
            float sum = 0;
            for (unsigned long k = 0; k < NB; k++) {
                sum += A[i * NB + k] * B[j * NB + k];
            }
            C[i * NB + j] -= sum;
        }
    }
}

void strsm_tile(float *T, float *B, unsigned long NB) {
    for (unsigned long i = 0; i < NB; i++) {
        for (unsigned long j = 0; j < NB; j++) {
            float sum = B[i * NB + j];
            for (unsigned long k = 0; k < j; k++) {
                sum -= B[i * NB + k] * T[j * NB + k];
            }
            B[i * NB + j] = sum / T[j * NB + j];
        }
    }
}

void ssyrk_tile(float *A, float *C, long NB) { (sgemm_tile)(A, A, C, (unsigned long)NB); }

void compute(struct timeval *start, struct timeval *stop, long NB, long DIM, float *A[DIM][DIM]) {
    gettimeofday(start, NULL);
    for (long j = 0; j < DIM; j++) {
        for (long k = 0; k < j; k++) {
            for (long i = j + 1; i < DIM; i++) {
                sgemm_tile(&A[i][k][0], &A[j][k][0], &A[i][j][0], NB);
            }
        }
        for (long i = 0; i < j; i++) {
            ssyrk_tile(A[j][i], A[j][j], NB);
        }
        spotrf_tile(A[j][j], NB);
        for (long i = j + 1; i < DIM; i++) {
            strsm_tile(A[j][j], A[i][j], NB);
        }
    }
#pragma omp taskwait
    gettimeofday(stop, NULL);
}

static float element(long i, long j, long n) {
    return i == j ? (float)n : 1.0F / (float)(1 + labs(i - j));
}

int main(int argc, char **argv) {
    const long DIM = argc > 1 ? atol(argv[1]) : 6, NB = argc > 2 ? atol(argv[2]) : 16, n = DIM * NB;
    float *(*A)[DIM] = malloc(sizeof(float *[DIM][DIM]));
    for (long i = 0; i < DIM; i++) {
        for (long j = 0; j < DIM; j++) {
            A[i][j] = malloc(sizeof(float) * NB * NB);
            for (long k = 0; k < NB * NB; k++) {
                A[i][j][k] = element(i * NB + k / NB, j * NB + k % NB, n);
            }
        }
    }
    struct timeval start, stop;
    compute(&start, &stop, NB, DIM, A);
    double error = 0;
    for (long i = 0; i < n; i += 7) {
        for (long j = 0; j <= i; j += 5) {
            double sum = 0;
            for (long k = 0; k <= j; k++) {
                sum += (double)A[i / NB][k / NB][i % NB * NB + k % NB] * A[j / NB][k / NB][j % NB * NB + k % NB];
            }
            error = fmax(error, fabs(sum - element(i, j, n)));
        }
    }
    double checksum = 0;
    for (long i = 0; i < n; i++) {
        checksum += A[i / NB][i / NB][i % NB * NB + i % NB];
    }
    fprintf(stderr, "%.3f s\n", stop.tv_sec - start.tv_sec + (stop.tv_usec - start.tv_usec) * 1e-6);
    printf("checksum %.6f %s\n", checksum, error < 1e-3 * n ? "right" : "wrong");
    return error < 1e-3 * n ? 0 : 1;
}
