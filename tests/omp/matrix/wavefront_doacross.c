/* SPDX-License-Identifier: BSL-1.0 */
/* Longest common subsequence by doacross: a loop with ordered(2) over tiles, each of which waits
   for the tiles above and to the left of it; then a recurrence along one line by ordered(1) with a
   dynamic schedule. Both are integers: the serial answer must be met exactly. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_tiles = 12, k_size = 20, k_length = k_tiles * k_size, k_steps = 120 };

static char first[k_length + 1], second[k_length + 1];
static int parallel[k_length + 1][k_length + 1], serial[k_length + 1][k_length + 1];
static uint32_t line[k_steps + 2], serial_line[k_steps + 2];

static void cell(int (*table)[k_length + 1], int i, int j) {
    const int up = table[i - 1][j], left = table[i][j - 1];
    table[i][j] = first[i] == second[j] ? table[i - 1][j - 1] + 1 : up > left ? up : left;
}

static void tile(int ti, int tj) {
    for (int i = ti * k_size + 1; i <= (ti + 1) * k_size; ++i) {
        for (int j = tj * k_size + 1; j <= (tj + 1) * k_size; ++j)
            cell(parallel, i, j);
    }
}

static void common_subsequence(void) {
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int ti = 0; ti < k_tiles; ++ti) {
        for (int tj = 0; tj < k_tiles; ++tj) {
#pragma omp ordered depend(sink : ti - 1, tj) depend(sink : ti, tj - 1)
            tile(ti, tj);
#pragma omp ordered depend(source)
        }
    }
}

static void recurrence(void) {
#pragma omp parallel for ordered(1) schedule(dynamic, 2)
    for (int i = 2; i < k_steps + 2; ++i) {
        const uint32_t own = (uint32_t)i * 2654435761u;
#pragma omp ordered depend(sink : i - 1) depend(sink : i - 2)
        line[i] = line[i - 1] * 3 + line[i - 2] + own;
#pragma omp ordered depend(source)
    }
}

int main(void) {
    uint32_t random = 7;
    for (int i = 1; i <= k_length; ++i) {
        random = random * 1664525u + 1013904223u;
        first[i] = (char)('a' + (random >> 28) % 4);
        second[i] = (char)('a' + (random >> 24) % 4);
    }
    common_subsequence();
    line[0] = serial_line[0] = 1;
    line[1] = serial_line[1] = 2;
    recurrence();
    for (int i = 1; i <= k_length; ++i) {
        for (int j = 1; j <= k_length; ++j)
            cell(serial, i, j);
    }
    for (int i = 2; i < k_steps + 2; ++i) {
        serial_line[i] = serial_line[i - 1] * 3 + serial_line[i - 2] + (uint32_t)i * 2654435761u;
    }
    if (memcmp(parallel, serial, sizeof serial) != 0 ||
        memcmp(line, serial_line, sizeof line) != 0) {
        fprintf(
            stderr,
            "wavefront_doacross: length %d instead of %d, end of the recurrence %u instead of %u\n",
            parallel[k_length][k_length], serial[k_length][k_length], line[k_steps + 1],
            serial_line[k_steps + 1]);
        return 1;
    }
    printf("wavefront_doacross %d %08x\n", parallel[k_length][k_length], line[k_steps + 1]);
    return 0;
}
