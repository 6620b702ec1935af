/* SPDX-License-Identifier: BSL-1.0 */
/* What is not implemented, by the first argument, a lock that is misused, and OMP_THREAD_LIMIT. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void reduction(void) {
    int sum = 0;
#pragma omp parallel reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
        sum += 1;
    }
    printf("%d\n", sum);
}

static void target(void) {
    int sum = 0;
#pragma omp target map(tofrom : sum)
    sum += 1;
    printf("%d\n", sum);
}

static void detach(void) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    omp_fulfill_event(event);
}

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
    if (argc > 1 && strcmp(argv[1], "target") == 0) target();
    if (argc > 1 && strcmp(argv[1], "reduction") == 0) reduction();
    if (argc > 1 && strcmp(argv[1], "detach") == 0) detach();
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
