/* SPDX-License-Identifier: BSL-1.0 */
/* LU factorisation of a sparse matrix of blocks, most of which are absent. The creator of the tasks
   allocates the blocks that fill in; `depend` names the slots of the pointers. Each block gets its
   updates in the order of the loops, so the bits must be those of the serial factorisation; the
   product of the factors must be the matrix, up to rounding. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_blocks = 10, k_size = 8, k_cells = k_size * k_size, k_order = k_blocks * k_size };

typedef double* matrix[k_blocks][k_blocks];

static void fill(matrix a) {
    for (int i = 0; i < k_blocks; ++i) {
        for (int j = 0; j < k_blocks; ++j) {
            const int distance = abs(i - j);
            a[i][j] = distance < 2 || distance == 5 ? malloc(k_cells * sizeof(double)) : NULL;
            for (int c = 0; a[i][j] != NULL && c < k_cells; ++c) {
                const int on_diagonal = i == j && c / k_size == c % k_size;
                a[i][j][c] = on_diagonal ? 50 + c : 1.0 / (1 + (7 * i + 3 * j + c) % 13);
            }
        }
    }
}

__attribute__((noinline)) static void factor(double* a) {
    for (int k = 0; k < k_size; ++k) {
        for (int i = k + 1; i < k_size; ++i) {
            a[i * k_size + k] /= a[k * k_size + k];
            for (int j = k + 1; j < k_size; ++j)
                a[i * k_size + j] -= a[i * k_size + k] * a[k * k_size + j];
        }
    }
}

__attribute__((noinline)) static void solve_lower(const double* diagonal, double* b) {
    for (int k = 0; k < k_size; ++k) {
        for (int i = k + 1; i < k_size; ++i) {
            for (int j = 0; j < k_size; ++j)
                b[i * k_size + j] -= diagonal[i * k_size + k] * b[k * k_size + j];
        }
    }
}

__attribute__((noinline)) static void solve_upper(const double* diagonal, double* b) {
    for (int i = 0; i < k_size; ++i) {
        for (int k = 0; k < k_size; ++k) {
            b[i * k_size + k] /= diagonal[k * k_size + k];
            for (int j = k + 1; j < k_size; ++j)
                b[i * k_size + j] -= b[i * k_size + k] * diagonal[k * k_size + j];
        }
    }
}

__attribute__((noinline)) static void update(const double* a, const double* b, double* c) {
    for (int i = 0; i < k_size; ++i) {
        for (int k = 0; k < k_size; ++k) {
            for (int j = 0; j < k_size; ++j)
                c[i * k_size + j] -= a[i * k_size + k] * b[k * k_size + j];
        }
    }
}

static double* present(double* block) {
    return block != NULL ? block : calloc(k_cells, sizeof(double));
}

static void factorise_serially(matrix a) {
    for (int k = 0; k < k_blocks; ++k) {
        factor(a[k][k]);
        for (int j = k + 1; j < k_blocks; ++j) {
            if (a[k][j] != NULL) solve_lower(a[k][k], a[k][j]);
            if (a[j][k] != NULL) solve_upper(a[k][k], a[j][k]);
        }
        for (int i = k + 1; i < k_blocks; ++i) {
            for (int j = k + 1; j < k_blocks; ++j) {
                if (a[i][k] == NULL || a[k][j] == NULL) continue;
                a[i][j] = present(a[i][j]);
                update(a[i][k], a[k][j], a[i][j]);
            }
        }
    }
}

/* The pointers are firstprivate: the creator writes slots of later blocks while tasks run. */
static void factorise(matrix a) {
    for (int k = 0; k < k_blocks; ++k) {
        double* diagonal = a[k][k];
#pragma omp task depend(inout : a[k][k]) firstprivate(diagonal)
        factor(diagonal);
        for (int j = k + 1; j < k_blocks; ++j) {
            double *right = a[k][j], *below = a[j][k];
            if (right != NULL) {
#pragma omp task depend(in : a[k][k]) depend(inout : a[k][j]) firstprivate(diagonal, right)
                solve_lower(diagonal, right);
            }
            if (below != NULL) {
#pragma omp task depend(in : a[k][k]) depend(inout : a[j][k]) firstprivate(diagonal, below)
                solve_upper(diagonal, below);
            }
        }
        for (int i = k + 1; i < k_blocks; ++i) {
            for (int j = k + 1; j < k_blocks; ++j) {
                if (a[i][k] == NULL || a[k][j] == NULL) continue;
                double *x = a[i][k], *y = a[k][j], *z = a[i][j] = present(a[i][j]);
#pragma omp task depend(in : a[i][k], a[k][j]) depend(inout : a[i][j]) firstprivate(x, y, z)
                update(x, y, z);
            }
        }
    }
}

static double at(matrix a, int i, int j) {
    const double* block = a[i / k_size][j / k_size];
    return block == NULL ? 0 : block[i % k_size * k_size + j % k_size];
}

static matrix given, parallel, serial;

int main(void) {
    fill(given);
    fill(parallel);
    fill(serial);
#pragma omp parallel
#pragma omp single nowait
    factorise(parallel);
    factorise_serially(serial);
    uint64_t sum = 0;
    double error = 0;
    int differing = 0;
    for (int i = 0; i < k_order; ++i) {
        for (int j = 0; j < k_order; ++j) {
            const double x = at(parallel, i, j), y = at(serial, i, j);
            differing += memcmp(&x, &y, sizeof x) != 0;
            sum = sum * 31 + (uint64_t)(int64_t)(x * 1e9);
            double product = 0;
            for (int k = 0; k <= j && k <= i; ++k)
                product += (k == i ? 1 : at(parallel, i, k)) * at(parallel, k, j);
            error = fmax(error, fabs(product - at(given, i, j)));
        }
    }
    if (differing != 0 || !(error < 1e-10)) {
        fprintf(stderr, "sparse_lu: %d elements differ from the serial factors, error %g\n",
                differing, error);
        return 1;
    }
    printf("sparse_lu %016llx\n", (unsigned long long)sum);
    return 0;
}
