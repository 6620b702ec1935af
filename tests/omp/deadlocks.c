// SPDX-License-Identifier: BSL-1.0
// OpenMP programs that hang, and one that computes for long: what reports say of them. Usage:
// deadlocks barrier|lock|taskwait|criticals|locks|long.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static omp_lock_t left, right;

static void compute(double seconds) {
    struct timespec begin;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
             seconds);
}

/// A member never comes to the barrier.
static void miss_barrier(void) {
    omp_set_lock(&left);
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 1) {
            omp_set_lock(&left);
        }
#pragma omp barrier
    }
}

static void lock_twice(void) {
    omp_set_lock(&left);
    omp_set_lock(&left);
}

/// The task waits for a lock of the one that waits for the task.
static void wait_for_task(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_set_lock(&left);
#pragma omp task
        {
            omp_set_lock(&left);
            omp_unset_lock(&left);
        }
#pragma omp taskwait
        omp_unset_lock(&left);
    }
}

static void nest_criticals(void) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
        {
            compute(0.2);
#pragma omp critical(two)
            puts("both");
        }
    } else {
#pragma omp critical(two)
        {
            compute(0.2);
#pragma omp critical(one)
            puts("both");
        }
    }
}

static void lock_in_a_ring(void) {
#pragma omp parallel num_threads(2)
    {
        omp_lock_t* first = omp_get_thread_num() == 0 ? &left : &right;
        omp_lock_t* second = first == &left ? &right : &left;
        omp_set_lock(first);
#pragma omp barrier
        omp_set_lock(second);
    }
}

/// Nothing hangs: members wait for one that computes, in each way in which they can.
static void compute_for_long(void) {
    int arrived = 0;
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 1) {
            compute(1.2);
        }
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            compute(1.2);
        }
#pragma omp atomic
        ++arrived;
#pragma omp critical
        {
            int seen = 0;
            do {  // until the others wait for it
                compute(0.3);
#pragma omp atomic read
                seen = arrived;
            } while (seen < omp_get_num_threads());
        }
    }
    compute(1.2);  // between two regions
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        compute(1.2);
#pragma omp taskwait
    }
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } all[] = {{"barrier", miss_barrier},   {"lock", lock_twice},
               {"taskwait", wait_for_task}, {"criticals", nest_criticals},
               {"locks", lock_in_a_ring},   {"long", compute_for_long}};
    omp_init_lock(&left);
    omp_init_lock(&right);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (argc > 1 && strcmp(argv[1], all[i].name) == 0) {
            all[i].run();
            puts("over");
        }
    }
    return 0;
}
