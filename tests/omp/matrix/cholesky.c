/* SPDX-License-Identifier: BSL-1.0 */
/* Cholesky factorisation by tiles: one task for each kernel call, ordered by `depend` on the tiles.
   The serial answer comes from the same kernels in the order of the loops. Each tile gets its
   updates in that order in both, so all bits must agree; the product of the factor with its
   transpose must be the matrix, up to rounding. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_tiles = 8, k_size = 16, k_order = k_tiles * k_size };

typedef double tile[k_size][k_size];

static tile given[k_tiles][k_tiles];
static tile parallel[k_tiles][k_tiles];
static tile serial[k_tiles][k_tiles];

__attribute__((noinline)) static void factor(tile a) {
    for (int k = 0; k < k_size; ++k) {
        a[k][k] = sqrt(a[k][k]);
        for (int i = k + 1; i < k_size; ++i)
            a[i][k] /= a[k][k];
        for (int j = k + 1; j < k_size; ++j) {
            for (int i = j; i < k_size; ++i)
                a[i][j] -= a[i][k] * a[j][k];
        }
    }
}

__attribute__((noinline)) static void solve(tile diagonal, tile b) {
    for (int i = 0; i < k_size; ++i) {
        for (int j = 0; j < k_size; ++j) {
            for (int k = 0; k < j; ++k)
                b[i][j] -= b[i][k] * diagonal[j][k];
            b[i][j] /= diagonal[j][j];
        }
    }
}

__attribute__((noinline)) static void update(tile a, tile b, tile c) {
    for (int i = 0; i < k_size; ++i) {
        for (int j = 0; j < k_size; ++j) {
            for (int k = 0; k < k_size; ++k)
                c[i][j] -= a[i][k] * b[j][k];
        }
    }
}

static void factorise_serially(tile (*a)[k_tiles]) {
    for (int k = 0; k < k_tiles; ++k) {
        factor(a[k][k]);
        for (int i = k + 1; i < k_tiles; ++i)
            solve(a[k][k], a[i][k]);
        for (int j = k + 1; j < k_tiles; ++j) {
            for (int i = j; i < k_tiles; ++i)
                update(a[i][k], a[j][k], a[i][j]);
        }
    }
}

static void factorise(tile (*a)[k_tiles]) {
    for (int k = 0; k < k_tiles; ++k) {
#pragma omp task depend(inout : a[k][k][0][0]) priority(2)
        factor(a[k][k]);
        for (int i = k + 1; i < k_tiles; ++i) {
#pragma omp task depend(in : a[k][k][0][0]) depend(inout : a[i][k][0][0]) priority(1)
            solve(a[k][k], a[i][k]);
        }
        for (int j = k + 1; j < k_tiles; ++j) {
            for (int i = j; i < k_tiles; ++i) {
#pragma omp task depend(in : a[i][k][0][0], a[j][k][0][0]) depend(inout : a[i][j][0][0]) untied
                update(a[i][k], a[j][k], a[i][j]);
            }
        }
    }
}

static double at(tile (*a)[k_tiles], int i, int j) {
    return a[i / k_size][j / k_size][i % k_size][j % k_size];
}

static double largest_error(void) {
    double largest = 0;
    for (int i = 0; i < k_order; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k <= j; ++k)
                sum += at(parallel, i, k) * at(parallel, j, k);
            largest = fmax(largest, fabs(sum - at(given, i, j)));
        }
    }
    return largest;
}

int main(void) {
    for (int i = 0; i < k_order; ++i) {
        for (int j = 0; j < k_order; ++j) {
            given[i / k_size][j / k_size][i % k_size][j % k_size] =
                (i == j ? k_order : 0) + 1.0 / (1 + i + j);
        }
    }
    memcpy(parallel, given, sizeof given);
    memcpy(serial, given, sizeof given);
#pragma omp parallel
#pragma omp single
    factorise(parallel);
    factorise_serially(serial);
    if (memcmp(parallel, serial, sizeof serial) != 0 || !(largest_error() < 1e-11)) {
        fprintf(stderr, "cholesky: the factor differs from the serial one, or is off by %g\n",
                largest_error());
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_order; ++i) {
        for (int j = 0; j <= i; ++j)
            sum = sum * 31 + (uint64_t)(int64_t)(at(parallel, i, j) * 1e9);
    }
    printf("cholesky %016llx\n", (unsigned long long)sum);
    return 0;
}
