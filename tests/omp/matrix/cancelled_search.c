/* SPDX-License-Identifier: BSL-1.0 */
/* Searches that end early, with OMP_CANCELLATION=true: a loop, the tasks of a taskgroup, sections
   and a region are cancelled by the member that finds the answer. Answers are unique, so those of
   the serial search must be met; how much of the rest has run is open. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

enum { k_range = 60000, k_pieces = 40, k_piece = k_range / k_pieces };

/* A bijection of 32-bit numbers: each image has one origin. */
static uint32_t scramble(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static int search_serially(uint32_t image) {
    for (int i = 0; i < k_range; ++i) {
        if (scramble((uint32_t)i) == image) return i;
    }
    return -1;
}

static int by_loop(uint32_t image) {
    int found = -1;
#pragma omp parallel shared(found)
#pragma omp for schedule(monotonic : dynamic, 50)
    for (int i = 0; i < k_range; ++i) {
        if (scramble((uint32_t)i) == image) {
#pragma omp atomic write
            found = i;
#pragma omp cancel for
        }
#pragma omp cancellation point for
    }
    return found;
}

static int by_tasks(uint32_t image) {
    int found = -1;
#pragma omp parallel shared(found)
#pragma omp single
#pragma omp taskgroup
    for (int piece = 0; piece < k_pieces; ++piece) {
#pragma omp task shared(found) firstprivate(piece)
        for (int i = piece * k_piece; i < (piece + 1) * k_piece; ++i) {
            if (scramble((uint32_t)i) == image) {
#pragma omp atomic write
                found = i;
#pragma omp cancel taskgroup
            }
            if (i % 64 == 0) {
#pragma omp cancellation point taskgroup
            }
        }
    }
    return found;
}

/* Each member searches every n-th number; the one that finds it cancels the region. */
static int by_region(uint32_t image) {
    int found = -1;
#pragma omp parallel shared(found)
    {
        for (int i = omp_get_thread_num(); i < k_range; i += omp_get_num_threads()) {
            if (scramble((uint32_t)i) == image) {
#pragma omp atomic write
                found = i;
#pragma omp cancel parallel
            }
#pragma omp cancellation point parallel
        }
#pragma omp barrier
    }
    return found;
}

static int by_sections(uint32_t image) {
    int up = -1;
#pragma omp parallel shared(up)
#pragma omp sections
    {
#pragma omp section
        for (int i = 0; i < k_range / 2; ++i) {
            if (scramble((uint32_t)i) == image) {
#pragma omp atomic write
                up = i;
#pragma omp cancel sections
            }
#pragma omp cancellation point sections
        }
#pragma omp section
        for (int i = k_range - 1; i >= k_range / 2; --i) {
            if (scramble((uint32_t)i) == image) {
#pragma omp atomic write
                up = i;
#pragma omp cancel sections
            }
#pragma omp cancellation point sections
        }
    }
    return up;
}

int main(void) {
    if (!omp_get_cancellation()) {
        fputs("cancelled_search: needs OMP_CANCELLATION=true\n", stderr);
        return 1;
    }
    uint64_t sum = 0;
    for (int n = 0; n < 6; ++n) {
        const uint32_t image =
            n == 5 ? scramble(k_range + 1) : scramble((uint32_t)(n * n * 2000 + 123));
        const int serial = search_serially(image);
        const int found[] = {by_loop(image), by_tasks(image), by_region(image), by_sections(image)};
        for (int k = 0; k < 4; ++k) {
            if (found[k] != serial) {
                fprintf(stderr, "cancelled_search: search %d found %d, serial answer %d\n", k,
                        found[k], serial);
                return 1;
            }
            sum = sum * 31 + (uint64_t)(found[k] + 1);
        }
    }
    printf("cancelled_search %016llx\n", (unsigned long long)sum);
    return 0;
}
