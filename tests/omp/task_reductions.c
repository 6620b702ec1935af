/* SPDX-License-Identifier: BSL-1.0 */
/* Constructs that share memory among their members beside the iterations: reduction(task, ...) of
 * regions, loops, sections and scopes, scan, and conditional lastprivate. */
#include "check.h"

#include <omp.h>

#ifndef __clang__
#    pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of a conditional lastprivate */
#endif

enum { N = 500 };

static int size_of_team(void) {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

struct pair {
    int sum;
    int count;
};
static void add(struct pair* to, const struct pair* from) {
    to->sum += from->sum;
    to->count += from->count;
}
#pragma omp declare reduction(add           \
                              : struct pair \
                              : add(&omp_out, &omp_in)) initializer(omp_priv = {0, 0})

static void regions(void) {
    int size = size_of_team(), sum = 7;
    long product = 1;
    struct pair both = {3, 0};
#pragma omp parallel reduction(task, + : sum) reduction(task, add : both)
    {
        sum += 1;
        for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : sum) in_reduction(add : both)
            {
                sum += i;
                both.sum += i;
                both.count += 1;
            }
        }
    }
    CHECK(sum == 7 + size + size * 190);
    CHECK(both.sum == 3 + size * 190 && both.count == size * 20);
#pragma omp parallel reduction(task, * : product) num_threads(2)
    {
#pragma omp task in_reduction(* : product)
        product *= 3;
    }
    CHECK(product == 9 || product == 3);
}

static void loops(void) {
    int sum = 1, last = -1;
    int array[4] = {0, 0, 0, 0};
#pragma omp parallel
    {
#pragma omp for reduction(task, + : sum) schedule(static)
        for (int i = 0; i < N; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += i;
        }
#pragma omp for reduction(task, + : array) schedule(dynamic, 3)
        for (int i = 0; i < N; ++i) {
#pragma omp task in_reduction(+ : array) firstprivate(i)
            array[i % 4] += 1;
        }
#pragma omp for reduction(task, + : sum) schedule(monotonic : dynamic) lastprivate(last)
        for (unsigned long long i = 0; i < N; i += 2) {
            last = (int)i;
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
#pragma omp for reduction(task, + : sum) schedule(runtime)
        for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += 1000;
        }
    }
    CHECK(sum == 1 + N * (N - 1) / 2 + N / 2 + 10000);
    CHECK(last == N - 2);
    for (int i = 0; i < 4; ++i) {
        CHECK(array[i] == N / 4);
    }
}

static void sections(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp sections reduction(task, + : sum)
    {
#pragma omp section
        {
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
#pragma omp section
        {
#pragma omp task in_reduction(+ : sum)
            sum += 10;
        }
#pragma omp section
        sum += 100;
    }
    CHECK(sum == 111);
}

static void scopes(void) {
#ifndef __clang__ /* clang 19 reads the construct and cannot compile it */
    int size = size_of_team(), sum = 0;
#    pragma omp parallel
    {
        for (int round = 0; round < 20; ++round) {
#    pragma omp scope reduction(task, + : sum)
            {
#    pragma omp task in_reduction(+ : sum)
                sum += 1;
            }
        }
#    pragma omp scope reduction(+ : sum)
        sum += 1;
#    pragma omp scope nowait
        {
#    pragma omp atomic
            sum += 0;
        }
    }
    CHECK(sum == 21 * size);
#endif
}

static void scans(void) {
    int from[N], with[N], without[N], sum = 0, before = 0;
    for (int i = 0; i < N; ++i) {
        from[i] = i * 3 % 17;
    }
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < N; ++i) {
        sum += from[i];
#pragma omp scan inclusive(sum)
        with[i] = sum;
    }
#pragma omp parallel for reduction(inscan, + : before)
    for (int i = 0; i < N; ++i) {
        without[i] = before;
#pragma omp scan exclusive(before)
        before += from[i];
    }
    int expected = 0;
    for (int i = 0; i < N; ++i) {
        CHECK(without[i] == expected);
        expected += from[i];
        CHECK(with[i] == expected);
    }
    CHECK(sum == expected && before == expected);
}

/* What clang 19 makes of it depends on which member is the last one, with its own library too. */
#ifndef __clang__
static void last_by_condition(void) {
    int last = -1, other = -1, in_section = 0;
    unsigned found = 0;
#    pragma omp parallel for lastprivate(conditional : last) schedule(dynamic)
    for (int i = 0; i < N; ++i) {
        if (i % 7 == 3) {
            last = i;
        }
    }
    CHECK(last == (N - 4) / 7 * 7 + 3);
#    pragma omp parallel
    {
#    pragma omp for lastprivate(conditional : other) schedule(static, 3)
        for (int i = N; i > 0; --i) {
            if (i % 11 == 5) {
                other = i;
            }
        }
#    pragma omp for lastprivate(conditional : found) schedule(guided)
        for (unsigned i = 0; i < N; ++i) {
            if (i < 300 && i % 13 == 0) {
                found = i;
            }
        }
#    pragma omp sections lastprivate(conditional : in_section)
        {
#    pragma omp section
            in_section = 1;
#    pragma omp section
            in_section = 2;
#    pragma omp section
            if (other == -2) in_section = 3;
        }
    }
    CHECK(other == 5 && found == 299 && in_section == 2);
}
#endif

/* The group's reductions end even so. */
static void without_iterations(int count) {
    long sum = 7;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < count; ++i) {
        sum += i;
    }
    CHECK(sum == 7);
}

int main(int argc, char** argv) {
    if (begin(argc, argv)) {
        return 1;
    }
    for (int round = 0; round < 5; ++round) {
        regions();
        loops();
        sections();
        scopes();
        scans();
        without_iterations(0);
#ifndef __clang__
        last_by_condition();
#endif
    }
    return end();
}
