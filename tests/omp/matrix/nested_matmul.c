/* SPDX-License-Identifier: BSL-1.0 */
/* Products of matrices in nested regions: the outer one shares out blocks of rows, each member's
   inner region their elements; and a third level that is not active. Each element is one sum in one
   order, so the bits must be those of the serial product. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_size = 64, k_block = 8 };

typedef double matrix[k_size][k_size];

static matrix a, b, parallel, serial;
static int levels[k_size / k_block], inner_size[k_size / k_block], third_size[k_size / k_block];

__attribute__((noinline)) static double element(int i, int j) {
    double sum = 0;
    for (int k = 0; k < k_size; ++k)
        sum += a[i][k] * b[k][j];
    return sum;
}

static void rows(int block) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for collapse(2) schedule(dynamic, 5)
        for (int i = block * k_block; i < (block + 1) * k_block; ++i) {
            for (int j = 0; j < k_size; ++j)
                parallel[i][j] = element(i, j);
        }
#pragma omp single
        {
            levels[block] = omp_get_level();
            inner_size[block] = omp_get_team_size(2);
#pragma omp parallel num_threads(2)
#pragma omp single
            third_size[block] = omp_get_num_threads();
        }
    }
}

int main(void) {
    for (int i = 0; i < k_size; ++i) {
        for (int j = 0; j < k_size; ++j) {
            a[i][j] = 1.0 / (1 + i + 2 * j);
            b[i][j] = 1.0 / (1 + (i * 5 + j * 3) % 11);
        }
    }
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
#pragma omp parallel for schedule(static, 1) num_threads(3)
    for (int block = 0; block < k_size / k_block; ++block)
        rows(block);
    int wrong = 0;
    uint64_t sum = 0;
    for (int i = 0; i < k_size; ++i) {
        for (int j = 0; j < k_size; ++j) {
            serial[i][j] = element(i, j);
            sum = sum * 31 + (uint64_t)(parallel[i][j] * 1e9);
        }
    }
    for (int block = 0; block < k_size / k_block; ++block) {
        wrong += levels[block] != 2 || inner_size[block] != 2 || third_size[block] != 1;
    }
    if (memcmp(parallel, serial, sizeof serial) != 0 || wrong != 0) {
        fprintf(stderr,
                "nested_matmul: the product differs, or %d levels or sizes of teams are wrong\n",
                wrong);
        return 1;
    }
    printf("nested_matmul %016llx\n", (unsigned long long)sum);
    return 0;
}
