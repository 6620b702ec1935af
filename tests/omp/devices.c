/* SPDX-License-Identifier: BSL-1.0 */
/* Regions for devices, which the host runs; leagues of teams; formats of affinity. */
#include "check.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000 };

static void targets(void) {
    static int from[N], to[N];
    int sum = 0, first = 5, copied = 7;
    double array[3] = {1, 2, 3};
    for (int i = 0; i < N; ++i) {
        from[i] = i;
    }
#pragma omp target map(to : from) map(from : to) map(tofrom : sum) firstprivate(first, array)
    {
        first += 1;
        array[0] += 1;
        for (int i = 0; i < N; ++i) {
            to[i] = from[i] + first;
            sum += (int)array[0];
        }
        CHECK(omp_is_initial_device());
    }
    CHECK(first == 5 && array[0] == 1 && sum == 2 * N && to[10] == 16);
#pragma omp target data map(tofrom : to)
    {
#pragma omp target map(tofrom : to)
#pragma omp parallel for
        for (int i = 0; i < N; ++i) {
            to[i] = 2 * i;
        }
#pragma omp target update from(to)
        CHECK(to[N - 1] == 2 * N - 2);
    }
#pragma omp target enter data map(to : from)
#pragma omp target exit data map(from : from)
    sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum) num_teams(3)
    for (int i = 0; i < N; ++i) {
        sum += from[i];
    }
    CHECK(sum == N * (N - 1) / 2);
    int done = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : done) shared(done)
        {
            usleep(2000);
            done = 1;
        }
#pragma omp target depend(inout : done) map(tofrom : done, copied) nowait
        {
            copied = done;
            done = 2;
        }
#pragma omp task depend(in : done) shared(done, copied)
        copied = 10 * copied + done;
    }
    CHECK(copied == 12);
}

static void leagues(void) {
    int teams = 0, members = 0;
    int runs[8] = {0};
    long sum = 0;
#pragma omp teams num_teams(4) reduction(+ : teams, members)
    {
        teams += 1;
        if (omp_get_team_num() >= 0 && omp_get_team_num() < 8) runs[omp_get_team_num()] += 1;
        CHECK(omp_get_team_num() < omp_get_num_teams());
#pragma omp parallel reduction(+ : members)
        {
            members += 1;
            CHECK(omp_get_team_num() < omp_get_num_teams());
        }
    }
    CHECK(teams >= 1 && teams <= 4 && members >= teams);
    for (int i = 0; i < 8; ++i) {
        CHECK(runs[i] == (i < teams ? 1 : 0));
    }
#pragma omp teams distribute num_teams(3) reduction(+ : sum)
    for (int i = 0; i < N; ++i) {
        sum += i;
    }
#pragma omp teams distribute parallel for num_teams(3) dist_schedule(static, 7) reduction(+ : sum)
    for (int i = 0; i < N; ++i) {
        sum += i;
    }
#pragma omp teams distribute parallel for num_teams(2) schedule(dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < N; ++i) {
        sum += i;
    }
    CHECK(sum == 3L * N * (N - 1) / 2);
    omp_set_num_teams(2);
    CHECK(omp_get_max_teams() == 2);
    teams = 0;
#pragma omp teams reduction(+ : teams)
    teams += 1;
    CHECK(teams >= 1 && teams <= 2);
    omp_set_teams_thread_limit(3);
    CHECK(omp_get_teams_thread_limit() == 3);
    CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0);
}

#ifndef __clang__ /* clang's programs have these functions of another library */
static void memory(void) {
    int source[12], target[12] = {0};
    for (int i = 0; i < 12; ++i) {
        source[i] = i;
    }
    int host = omp_get_initial_device();
    int* own = omp_target_alloc(sizeof source, host);
    CHECK(omp_target_memcpy(own, source, 4 * sizeof(int), 4, 8, host, host) == 0);
    CHECK(own[1] == 2 && own[4] == 5);
    size_t extent[2] = {2, 2}, offsets[2] = {1, 1}, zeros[2] = {0, 0}, lengths[2] = {3, 4};
    CHECK(omp_target_memcpy_rect(target, source, sizeof(int), 2, extent, zeros, offsets, lengths,
                                 lengths, host, host) == 0);
    CHECK(target[0] == 5 && target[1] == 6 && target[4] == 9 && target[5] == 10 && target[2] == 0);
    CHECK(omp_target_is_present(source, host));
    omp_target_free(own, host);
}

#endif

static void formats(void) {
    char text[200], expected[200], own[200];
    snprintf(expected, sizeof expected, "%d|%5d|0001|1   |%%|", (int)getpid(), 0);
#pragma omp parallel num_threads(1)
    {
        size_t length = omp_capture_affinity(text, sizeof text, "%P|%.5{thread_num}|%0.4N|%4L|%%|");
        CHECK(length == strlen(text));
    }
    CHECK(strcmp(text, expected) == 0);
    CHECK(omp_capture_affinity(text, 4, "%{process_id} and more") > 8 && strlen(text) == 3);
    omp_set_affinity_format("%n of %N on %H");
    CHECK(omp_get_affinity_format(own, sizeof own) == 14 && strcmp(own, "%n of %N on %H") == 0);
    omp_capture_affinity(text, sizeof text, "");
    CHECK(strncmp(text, "0 of 1 on ", 10) == 0 && strlen(text) > 10);
    omp_capture_affinity(text, sizeof text, "%A");
    CHECK(text[0] >= '0' && text[0] <= '9');
}

#ifdef __clang__
/* As code of flang and icc changes variables. */
void __kmpc_atomic_fixed4_add(void* place, int thread, int* variable, int value);
double __kmpc_atomic_float8_mul_cpt(void* place, int thread, double* variable, double value,
                                    int after);
short __kmpc_atomic_fixed2_sub_cpt_rev(void* place, int thread, short* variable, short value,
                                       int after);
unsigned char __kmpc_atomic_fixed1u_shr_cpt(void* place, int thread, unsigned char* variable,
                                            unsigned char value, int after);

static void atomics(void) {
    int sum = 0;
    double product = 1.5;
    short difference = 3;
    unsigned char bits = 200;
#    pragma omp parallel for
    for (int i = 0; i < N; ++i) {
        __kmpc_atomic_fixed4_add(0, 0, &sum, i);
    }
    CHECK(sum == N * (N - 1) / 2);
    CHECK(__kmpc_atomic_float8_mul_cpt(0, 0, &product, 2, 1) == 3 && product == 3);
    CHECK(__kmpc_atomic_fixed2_sub_cpt_rev(0, 0, &difference, 10, 0) == 3 && difference == 7);
    CHECK(__kmpc_atomic_fixed1u_shr_cpt(0, 0, &bits, 3, 1) == 25);
}
#endif

int main(int argc, char** argv) {
    if (begin(argc, argv)) {
        return 1;
    }
    targets();
    leagues();
#ifdef __clang__
    atomics();
#else
    memory();
#endif
    formats();
    return end();
}
