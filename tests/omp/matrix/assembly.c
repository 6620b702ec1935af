/* SPDX-License-Identifier: BSL-1.0 */
/* Assembly of finite elements: tasks add to the nodes of an element under mutexinoutset, the number
   of dependences comes from an iterator, and a depend object stands for the stage behind. Whole
   numbers: the serial sums must be met exactly. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_nodes = 48, k_elements = 150, k_corners = 3, k_passes = 3 };

static int corners[k_elements][k_corners];
static int64_t stiffness[k_nodes], serial[k_nodes], doubled[k_nodes];
static char row_of_node[k_nodes], halves;

static int64_t contribution(int pass, int element, int corner) {
    uint32_t x = (uint32_t)(element * 31 + corner + pass * 1000);
    for (int i = 0; i < 50; ++i)
        x = x * 1664525u + 1013904223u;
    return x >> 8;
}

/* No two tasks with a corner in common run at once: the additions need no atomic. */
static void assemble(int pass) {
    for (int e = 0; e < k_elements; ++e) {
        const int *c = corners[e], first = c[0], second = c[1], third = c[2];
#pragma omp task depend(mutexinoutset                                                  \
                        : row_of_node[first], row_of_node[second], row_of_node[third]) \
    firstprivate(c, e, pass)
        for (int k = 0; k < k_corners; ++k)
            stiffness[c[k]] += contribution(pass, e, k);
    }
}

/* Each half waits for all nodes; the task with the depend object waits for both halves. */
static int64_t finish(void) {
    int64_t total = 0;
    omp_depend_t behind;
#pragma omp depobj(behind) depend(inout : halves)
    for (int half = 0; half < 2; ++half) {
#pragma omp task depend(iterator(int i = 0                     \
                                 : k_nodes),                   \
                        in                                     \
                        : row_of_node[i]) depend(mutexinoutset \
                                                 : halves) firstprivate(half)
        for (int i = half; i < k_nodes; i += 2)
            doubled[i] = 2 * stiffness[i];
    }
#pragma omp task depend(depobj : behind) shared(total)
    for (int i = 0; i < k_nodes; ++i)
        total += doubled[i];
#pragma omp taskwait
#pragma omp depobj(behind) destroy
    return total;
}

int main(void) {
    uint32_t random = 47;
    for (int e = 0; e < k_elements; ++e) {
        random = random * 1664525u + 1013904223u;
        const int a = (int)(random >> 8) % k_nodes;
        for (int k = 0; k < k_corners; ++k)
            corners[e][k] = (a + k * (1 + (int)(random >> 28))) % k_nodes;
    }
    int64_t total = -1, serial_total = 0;
#pragma omp parallel shared(total)
#pragma omp masked
    {
        for (int pass = 0; pass < k_passes; ++pass)
            assemble(pass);
        total = finish();
    }
    for (int pass = 0; pass < k_passes; ++pass) {
        for (int e = 0; e < k_elements; ++e) {
            for (int k = 0; k < k_corners; ++k)
                serial[corners[e][k]] += contribution(pass, e, k);
        }
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_nodes; ++i) {
        serial_total += 2 * serial[i];
        sum = sum * 31 + (uint64_t)stiffness[i];
    }
    if (memcmp(stiffness, serial, sizeof serial) != 0 || total != serial_total) {
        fprintf(stderr, "assembly: sums differ, or the total %lld is not %lld\n", (long long)total,
                (long long)serial_total);
        return 1;
    }
    printf("assembly %lld %016llx\n", (long long)total, (unsigned long long)sum);
    return 0;
}
