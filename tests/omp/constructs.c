/* SPDX-License-Identifier: BSL-1.0 */
/* Every construct that shares work among threads, beside a serial computation. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000 };

static int mark[N];

static void clear(void) { memset(mark, 0, sizeof mark); }
static int all_once(int from, int to, int step) {
    int ok = 1;
    for (int i = 0; i < N; ++i) {
        ok &= mark[i] == (i >= from && i < to && (i - from) % step == 0);
    }
    return ok;
}

static void loops(int chunk) {
    clear();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) mark[i]++;
    CHECK(all_once(0, N, 1));
    clear();
#pragma omp parallel for schedule(dynamic)
    for (int i = 3; i < N; i += 7) mark[i]++;
    CHECK(all_once(3, N, 7));
    clear();
#pragma omp parallel for schedule(dynamic, chunk)
    for (int i = N - 1; i >= 0; --i) mark[i]++;
    CHECK(all_once(0, N, 1));
    clear();
#pragma omp parallel for schedule(guided, chunk)
    for (int i = 0; i < N; ++i) mark[i]++;
    CHECK(all_once(0, N, 1));
    clear();
#pragma omp parallel for schedule(monotonic : dynamic, chunk)
    for (int i = 0; i < N; ++i) mark[i]++;
    CHECK(all_once(0, N, 1));
    for (int kind = 1; kind <= 4; ++kind) {
        omp_set_schedule((omp_sched_t)kind, chunk);
        clear();
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < N; ++i) mark[i]++;
        CHECK(all_once(0, N, 1));
    }
    clear();
    unsigned long long top = ULLONG_MAX;
#pragma omp parallel for schedule(dynamic, chunk)
    for (unsigned long long i = top - N; i < top; ++i) mark[i - (top - N)]++;
    CHECK(all_once(0, N, 1));
    clear();
    long far = LONG_MIN;
#pragma omp parallel for schedule(guided)
    for (long i = far; i < far + N; i += 2) mark[i - far]++;
    CHECK(all_once(0, N, 2));
    int last = -1;
#pragma omp parallel for schedule(dynamic, chunk) lastprivate(last)
    for (int i = 0; i < N; i += 3) last = i;
    CHECK(last == N - 1 - (N - 1) % 3);
    int none = 0;
    volatile int nothing = 0;
    int end_of_none = nothing;
#pragma omp parallel for schedule(dynamic) reduction(+ : none)
    for (int i = 0; i < end_of_none; ++i) none++;
    CHECK(none == 0);
}

static void many_loops_without_barriers(void) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    for (int k = 0; k < 50; ++k) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 20; ++i) sum += i;
#pragma omp single nowait
        sum += 1000;
    }
    CHECK(sum == 50 * (190 + 1000));
}

static void ordered(void) {
    int next = 0;
    int in_order = 1;
#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < 200; ++i) {
#pragma omp ordered
        {
            in_order &= next == i;
            next = i + 1;
        }
    }
    CHECK(in_order && next == 200);
    next = 0;
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < 200; i += 2) {
        if (i % 4 == 0) {
#pragma omp ordered
            {
                in_order &= next <= i;
                next = i;
            }
        }
    }
    CHECK(in_order && next == 196);
}

/* A wave front: each cell needs the one above and the one to the left. */
static void wave_front(void) {
    enum { SIDE = 30 };
    static long grid[SIDE][SIDE];
    static long serial[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i) grid[i][0] = grid[0][i] = serial[i][0] = serial[0][i] = i + 1;
    for (int i = 1; i < SIDE; ++i) {
        for (int j = 1; j < SIDE; ++j) serial[i][j] = (serial[i - 1][j] + 2 * serial[i][j - 1]) % 10007;
    }
#pragma omp parallel for ordered(2) schedule(dynamic)
    for (int i = 1; i < SIDE; ++i) {
        for (int j = 1; j < SIDE; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] = (grid[i - 1][j] + 2 * grid[i][j - 1]) % 10007;
#pragma omp ordered depend(source)
        }
    }
    CHECK(memcmp(grid, serial, sizeof grid) == 0);
    long chain[200] = {0};
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (unsigned long long i = 1; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 1)
        chain[i] = chain[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    CHECK(chain[199] == 199);
}

static void sections_and_singles(void) {
    int a = 0, b = 0, c = 0, count = 0;
#pragma omp parallel sections
    {
#pragma omp section
        a++;
#pragma omp section
        b++;
#pragma omp section
        c++;
    }
    CHECK(a == 1 && b == 1 && c == 1);
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            a++;
#pragma omp section
            b++;
        }
#pragma omp single
        count++;
        int value = 0;
#pragma omp single copyprivate(value)
        value = 42;
        if (value != 42) {
#pragma omp atomic
            count += 1000;
        }
#pragma omp master
        c++;
    }
    CHECK(a == 2 && b == 2 && c == 2 && count == 1);
}

static void exclusion(void) {
    int threads = 0;
    long plain = 0, named = 0;
    long double wide = 0;
#pragma omp parallel
    {
#pragma omp atomic
        threads++;
        for (int i = 0; i < 200; ++i) {
#pragma omp critical
            plain++;
#pragma omp critical(another)
            named++;
#pragma omp atomic
            wide += 1;
        }
    }
    CHECK(plain == 200L * threads && named == 200L * threads && wide == 200.0L * threads);
    CHECK(threads == omp_get_max_threads());
}

static void locks(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    long a = 0, b = 0;
#pragma omp parallel
    for (int i = 0; i < 200; ++i) {
        omp_set_lock(&lock);
        a++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        int depth = omp_test_nest_lock(&nest);
        b += depth - 1;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    CHECK(a == 200L * omp_get_max_threads() && b == a);
    CHECK(omp_test_lock(&lock) && !omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

static int own;
#pragma omp threadprivate(own)

static void identity(void) {
    int threads = omp_get_max_threads();
    int bad = 0;
    int kernel[64] = {0};
    int seen[64] = {0};
#pragma omp parallel reduction(+ : bad)
    {
        int me = omp_get_thread_num();
        own = me + 1;
        kernel[me] = gettid();
        errno = me;
        bad += omp_get_num_threads() != threads || me < 0 || me >= threads;
#pragma omp atomic
        seen[me]++;
#pragma omp barrier
        bad += errno != me || gettid() != kernel[me] || omp_get_thread_num() != me;
    }
#pragma omp parallel reduction(+ : bad)
    bad += own != omp_get_thread_num() + 1 || gettid() != kernel[omp_get_thread_num()];
    for (int i = 0; i < threads; ++i) bad += seen[i] != 1;
    CHECK(bad == 0);
    CHECK(kernel[0] == gettid() && omp_get_thread_num() == 0 && omp_get_level() == 0);
    own = 77;
#pragma omp parallel copyin(own) reduction(+ : bad)
    bad += own != 77;
    CHECK(bad == 0);
}

/* Members that wait for one another by a flag of their own: each needs a thread. */
static void members_spin(void) {
    volatile int arrived = 0;
    int threads = omp_get_max_threads();
#pragma omp parallel
    {
#pragma omp atomic
        arrived++;
        while (arrived != threads) usleep(1);
    }
    CHECK(arrived == threads);
}

static void nested(void) {
    int total = 0, bad = 0;
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2) reduction(+ : total, bad)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : total, bad)
        {
            total++;
            bad += omp_get_ancestor_thread_num(1) != outer || omp_get_team_size(1) != 2;
            bad += omp_get_level() != 2 || omp_get_active_level() != 2 || omp_get_team_size(2) != 3;
#pragma omp parallel if (0) reduction(+ : bad)
            bad += omp_get_num_threads() != 1 || omp_get_level() != 3 || omp_get_active_level() != 2;
        }
    }
    CHECK(total == 6 && bad == 0);
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2) reduction(+ : bad)
    {
#pragma omp parallel num_threads(2) reduction(+ : bad)
        bad += omp_get_num_threads() != 1;
    }
    CHECK(bad == 0);
}

static void values(void) {
    int before = omp_get_max_threads();
    int bad = 0;
#pragma omp parallel num_threads(2) reduction(+ : bad)
    {
        omp_set_num_threads(omp_get_thread_num() + 3);
        bad += omp_get_max_threads() != omp_get_thread_num() + 3;
    }
    CHECK(bad == 0 && omp_get_max_threads() == before);
    CHECK(!omp_in_parallel() && omp_get_thread_limit() > 0 && omp_get_num_procs() > 0);
    double start = omp_get_wtime();
    CHECK(omp_get_wtime() >= start && omp_get_wtick() > 0);
}

int main(int argc, char** argv) {
    if (begin(argc, argv)) return 2;
    for (int round = 0; round < 3; ++round) {
        loops(1 + 4 * round);
        many_loops_without_barriers();
        ordered();
        wave_front();
        sections_and_singles();
        exclusion();
        locks();
        identity();
        members_spin();
        nested();
        values();
    }
    return end();
}
