/* SPDX-License-Identifier: BSL-1.0 */
/* n-body with threadprivate forces: each thread adds up the pairs that it gets in an array of its
   own, which lives from region to region, and counts them. Forces are whole numbers of a small
   unit, so sums have no order and the bits must be those of the serial steps. The unit itself comes
   to the threads by copyin. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_bodies = 64, k_steps = 12 };

struct body {
    double place[3], speed[3], mass;
};

static struct body parallel[k_bodies], serial[k_bodies];

static int64_t (*forces)[3];
static double unit;
static long pairs;
#pragma omp threadprivate(forces, unit, pairs)

__attribute__((noinline)) static void pull(const struct body* all, int a, int b, double per_unit,
                                           int64_t (*out)[3]) {
    double d[3], square = 0.01;
    for (int c = 0; c < 3; ++c) {
        d[c] = all[b].place[c] - all[a].place[c];
        square += d[c] * d[c];
    }
    const double strength = all[a].mass * all[b].mass / (square * sqrt(square));
    for (int c = 0; c < 3; ++c) {
        const int64_t force = (int64_t)(strength * d[c] / per_unit);
        out[a][c] += force;
        out[b][c] -= force;
    }
}

__attribute__((noinline)) static void move(struct body* one, const int64_t* force,
                                           double per_unit) {
    for (int c = 0; c < 3; ++c) {
        one->speed[c] += 0.001 * (double)force[c] * per_unit / one->mass;
        one->place[c] += 0.001 * one->speed[c];
    }
}

static void step(int64_t (*sums)[3]) {
    memset(sums, 0, k_bodies * sizeof *sums);
#pragma omp parallel
    {
        memset(forces, 0, k_bodies * sizeof *forces);
#pragma omp for schedule(dynamic, 3)
        for (int a = 0; a < k_bodies; ++a) {
            for (int b = a + 1; b < k_bodies; ++b, ++pairs)
                pull(parallel, a, b, unit, forces);
        }
        for (int a = 0; a < k_bodies; ++a) {
            for (int c = 0; c < 3; ++c) {
#pragma omp atomic
                sums[a][c] += forces[a][c];
            }
        }
#pragma omp barrier
#pragma omp for
        for (int a = 0; a < k_bodies; ++a)
            move(&parallel[a], sums[a], unit);
    }
}

static long simulate(void) {
    static int64_t sums[k_bodies][3];
    long total = 0;
    unit = 1.0 / 1099511627776.0;
    omp_set_dynamic(0);
#pragma omp parallel copyin(unit)
    forces = malloc(k_bodies * sizeof *forces);
    for (int s = 0; s < k_steps; ++s)
        step(sums);
#pragma omp parallel reduction(+ : total)
    {
        total += pairs;
        free(forces);
    }
    return total;
}

int main(void) {
    uint32_t random = 3;
    for (int a = 0; a < k_bodies; ++a) {
        for (int c = 0; c < 3; ++c) {
            random = random * 1664525u + 1013904223u;
            parallel[a].place[c] = (double)(random >> 16) / 65536.0;
        }
        parallel[a].mass = 1 + a % 5;
    }
    memcpy(serial, parallel, sizeof serial);
    const long total = simulate();
    static int64_t sums[k_bodies][3];
    for (int s = 0; s < k_steps; ++s) {
        memset(sums, 0, sizeof sums);
        for (int a = 0; a < k_bodies; ++a) {
            for (int b = a + 1; b < k_bodies; ++b)
                pull(serial, a, b, unit, sums);
        }
        for (int a = 0; a < k_bodies; ++a)
            move(&serial[a], sums[a], unit);
    }
    if (memcmp(parallel, serial, sizeof serial) != 0 ||
        total != k_steps * k_bodies * (k_bodies - 1L) / 2) {
        fprintf(stderr, "nbody: the bodies differ from the serial ones, or %ld pairs are not %ld\n",
                total, k_steps * k_bodies * (k_bodies - 1L) / 2);
        return 1;
    }
    uint64_t sum = 0;
    for (int a = 0; a < k_bodies; ++a) {
        for (int c = 0; c < 3; ++c)
            sum = sum * 31 + (uint64_t)(int64_t)(parallel[a].place[c] * 1e9);
    }
    printf("nbody %ld %016llx\n", total, (unsigned long long)sum);
    return 0;
}
