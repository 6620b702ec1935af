/* SPDX-License-Identifier: BSL-1.0 */
/* Jacobi's iteration for Poisson's equation, all sweeps in one region: collapsed loops, a maximum
   by reduction, `single` between barriers. A sweep reads only the previous one and a maximum has no
   order, so the bits must be those of the serial sweeps. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_size = 66, k_sweeps = 40 };

typedef double field[k_size][k_size];

static field parallel[2], serial[2];
static double change[k_sweeps], serial_change[k_sweeps];

__attribute__((noinline)) static double relax(field from, field to, int i, int j) {
    const double source = (double)((i * 13 + j * 7) % 10);
    to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1] + source);
    return fabs(to[i][j] - from[i][j]);
}

static void sweep_all(void) {
    double largest = 0;
#pragma omp parallel
    for (int s = 0; s < k_sweeps; ++s) {
        double(*from)[k_size] = parallel[s % 2];
        double(*to)[k_size] = parallel[(s + 1) % 2];
#pragma omp for collapse(2) reduction(max : largest)
        for (int i = 1; i < k_size - 1; ++i) {
            for (int j = 1; j < k_size - 1; ++j)
                largest = fmax(largest, relax(from, to, i, j));
        }
#pragma omp single
        {
            change[s] = largest;
            largest = 0;
        }
    }
}

int main(void) {
    for (int i = 0; i < k_size; ++i) {
        for (int n = 0; n < 2; ++n)
            parallel[n][i][0] = serial[n][i][0] = 100;
    }
    sweep_all();
    for (int s = 0; s < k_sweeps; ++s) {
        for (int i = 1; i < k_size - 1; ++i) {
            for (int j = 1; j < k_size - 1; ++j) {
                serial_change[s] =
                    fmax(serial_change[s], relax(serial[s % 2], serial[(s + 1) % 2], i, j));
            }
        }
    }
    if (memcmp(parallel, serial, sizeof serial) != 0 ||
        memcmp(change, serial_change, sizeof change) != 0) {
        fprintf(
            stderr,
            "jacobi: fields or changes differ from the serial ones: last change %g instead of %g\n",
            change[k_sweeps - 1], serial_change[k_sweeps - 1]);
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_size; ++i) {
        for (int j = 0; j < k_size; ++j)
            sum = sum * 31 + (uint64_t)(int64_t)(parallel[k_sweeps % 2][i][j] * 1e9);
    }
    printf("jacobi %016llx\n", (unsigned long long)sum);
    return 0;
}
