// SPDX-License-Identifier: BSL-1.0
// A tiled Cholesky factorisation by tasks with depend, compiled without anything of Quern. Checks
// its answer. Usage: cholesky_depend [tiles in a row [points in a tile's row]].
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int tiles = 6;
static int size = 24;

static double* tile(double* of, int i, int j) {
    return of + ((size_t)i * (size_t)tiles + (size_t)j) * (size_t)size * (size_t)size;
}

static void factor(double* a) {
    for (int k = 0; k < size; ++k) {
        a[k * size + k] = sqrt(a[k * size + k]);
        for (int i = k + 1; i < size; ++i) {
            a[i * size + k] /= a[k * size + k];
        }
        for (int j = k + 1; j < size; ++j) {
            for (int i = j; i < size; ++i) {
                a[i * size + j] -= a[i * size + k] * a[j * size + k];
            }
        }
    }
}

static void solve(const double* l, double* b) {
    for (int row = 0; row < size; ++row) {
        for (int k = 0; k < size; ++k) {
            b[row * size + k] /= l[k * size + k];
            for (int j = k + 1; j < size; ++j) {
                b[row * size + j] -= b[row * size + k] * l[j * size + k];
            }
        }
    }
}

static void subtract_product(const double* a, const double* b, double* c) {
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
            for (int k = 0; k < size; ++k) {
                c[i * size + j] -= a[i * size + k] * b[j * size + k];
            }
        }
    }
}

static void cholesky(double* a) {
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < tiles; ++k) {
#pragma omp task depend(inout : tile(a, k, k)[0])
        factor(tile(a, k, k));
        for (int i = k + 1; i < tiles; ++i) {
#pragma omp task depend(in : tile(a, k, k)[0]) depend(inout : tile(a, i, k)[0])
            solve(tile(a, k, k), tile(a, i, k));
        }
        for (int i = k + 1; i < tiles; ++i) {
            for (int j = k + 1; j <= i; ++j) {
#pragma omp task depend(in : tile(a, i, k)[0], tile(a, j, k)[0]) depend(inout : tile(a, i, j)[0])
                subtract_product(tile(a, i, k), tile(a, j, k), tile(a, i, j));
            }
        }
    }
}

/// An element of the matrix that is factored: that of the identity times n, plus 1.
static double original(int row, int column) {
    return 1.0 + (row == column ? (double)(tiles * size) : 0.0);
}

static double factor_at(double* a, int row, int column) {
    return tile(a, row / size, column / size)[(row % size) * size + column % size];
}

static double error_of(double* a) {
    double worst = 0;
    for (int row = 0; row < tiles * size; row += 7) {
        for (int column = 0; column <= row; column += 5) {
            double sum = 0;
            for (int k = 0; k <= column; ++k) {
                sum += factor_at(a, row, k) * factor_at(a, column, k);
            }
            worst = fmax(worst, fabs(sum - original(row, column)));
        }
    }
    return worst;
}

int main(int argc, char** argv) {
    tiles = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : tiles;
    size = argc > 2 ? atoi(argv[2]) : size;
    const int n = tiles * size;
    double* a = calloc((size_t)n * (size_t)n, sizeof *a);
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
            tile(a, row / size, column / size)[(row % size) * size + column % size] =
                original(row, column);
        }
    }
    cholesky(a);
    const double error = error_of(a);
    printf("error %.1e\n", error);
    free(a);
    return error < 1e-9 * n ? 0 : 1;
}
