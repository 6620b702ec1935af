/* SPDX-License-Identifier: BSL-1.0 */
/* What is not implemented, by the first argument, a lock that is misused, and OMP_THREAD_LIMIT. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As objects that gcc before 4.9 has compiled begin a region. */
void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads);
static void old_region(void) { GOMP_parallel_start(0, 0, 0); }

static void lock(void) {
    omp_lock_t one;
    omp_init_lock(&one);
    omp_unset_lock(&one);
}

/* Members that begin inner regions at the same time take no more threads than the limit has. */
static void limit(void) {
    int present = 0, most = 0;
    omp_set_max_active_levels(3);
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            if (++present > most) most = present;
            usleep(1000);
#pragma omp atomic
            --present;
        }
    }
    printf("%s\n", most <= omp_get_thread_limit() ? "within the limit" : "too many threads");
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "region") == 0) old_region();
    if (argc > 1 && strcmp(argv[1], "lock") == 0) lock();
    if (argc > 1 && strcmp(argv[1], "limit") == 0) limit();
    if (argc == 1) {
        omp_sched_t kind;
        int chunk;
        omp_get_schedule(&kind, &chunk);
        printf("threads %d schedule %d,%d\n", omp_get_max_threads(), (int)kind, chunk);
    }
    return 0;
}
