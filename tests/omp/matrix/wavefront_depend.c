/* SPDX-License-Identifier: BSL-1.0 */
/* Local alignment of two sequences (Smith-Waterman) by tasks on tiles that `depend` on the tiles
   above and to the left. The creator waits for one tile by `taskwait depend` and reads it while
   others run. Integers: the serial answer must be met exactly. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_tiles = 14, k_size = 16, k_length = k_tiles * k_size, k_middle = k_tiles / 2 };

static char first[k_length + 1], second[k_length + 1];
static int parallel[k_length + 1][k_length + 1], serial[k_length + 1][k_length + 1];

static int larger(int a, int b) { return a > b ? a : b; }

static void tile(int (*score)[k_length + 1], int ti, int tj) {
    for (int i = ti * k_size + 1; i <= (ti + 1) * k_size; ++i) {
        for (int j = tj * k_size + 1; j <= (tj + 1) * k_size; ++j) {
            const int match = score[i - 1][j - 1] + (first[i] == second[j] ? 3 : -2);
            score[i][j] = larger(0, larger(match, larger(score[i - 1][j], score[i][j - 1]) - 1));
        }
    }
}

/* done[i][j] stands for tile (i - 1, j - 1); the first row and column for the edges. */
static char done[k_tiles + 1][k_tiles + 1];

static int align(void) {
    int middle = 0;
    for (int i = 1; i <= k_tiles; ++i) {
        for (int j = 1; j <= k_tiles; ++j) {
#pragma omp task depend(in                                           \
                        : done[i - 1][j], done[i][j - 1]) depend(out \
                                                                 : done[i][j]) firstprivate(i, j)
            tile(parallel, i - 1, j - 1);
        }
    }
#pragma omp taskwait depend(in : done[k_middle][k_middle])
    middle = parallel[k_middle * k_size][k_middle * k_size];
    return middle;
}

int main(void) {
    uint32_t random = 11;
    for (int i = 1; i <= k_length; ++i) {
        random = random * 1664525u + 1013904223u;
        first[i] = (char)('a' + (random >> 28) % 3);
        second[i] = (char)('a' + (random >> 25) % 3);
    }
    int middle = -1;
#pragma omp parallel shared(middle)
#pragma omp single
    middle = align();
    for (int i = 0; i < k_tiles; ++i) {
        for (int j = 0; j < k_tiles; ++j)
            tile(serial, i, j);
    }
    if (memcmp(parallel, serial, sizeof serial) != 0 ||
        middle != serial[k_middle * k_size][k_middle * k_size]) {
        fprintf(stderr,
                "wavefront_depend: the scores differ from the serial ones, or %d in the middle is "
                "not %d\n",
                middle, serial[k_middle * k_size][k_middle * k_size]);
        return 1;
    }
    int64_t sum = 0;
    for (int i = 1; i <= k_length; ++i) {
        for (int j = 1; j <= k_length; ++j)
            sum = sum * 31 + parallel[i][j];
    }
    printf("wavefront_depend %d %016llx\n", middle, (unsigned long long)sum);
    return 0;
}
