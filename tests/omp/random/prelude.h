// SPDX-License-Identifier: BSL-1.0
// What every random program includes: the state that its bodies share, functions that cost time, and OpenMP's functions for
// the serial reference, which is the same program compiled without -fopenmp. Only programs of generate.py include it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

using u64 = unsigned long long;

#ifdef _OPENMP
#include <omp.h>
#else
using omp_event_handle_t = int;
using omp_lock_t = int;
using omp_nest_lock_t = int;
static int omp_get_thread_num() { return 0; }
static int omp_get_num_threads() { return 1; }
static int omp_in_final() { return 0; }
static void omp_fulfill_event(omp_event_handle_t) {}
static void omp_init_lock(omp_lock_t*) {}
static void omp_set_lock(omp_lock_t*) {}
static int omp_test_lock(omp_lock_t*) { return 1; }
static void omp_unset_lock(omp_lock_t*) {}
static void omp_destroy_lock(omp_lock_t*) {}
static void omp_init_nest_lock(omp_nest_lock_t*) {}
static void omp_set_nest_lock(omp_nest_lock_t*) {}
static int omp_test_nest_lock(omp_nest_lock_t*) { return 1; }
static void omp_unset_nest_lock(omp_nest_lock_t*) {}
static void omp_destroy_nest_lock(omp_nest_lock_t*) {}
#endif

// libomp 19 loses lastprivate values where members take chunks from one another.
#ifdef __clang__
#define DYNAMIC_WITH_LAST monotonic : dynamic
#else
#define DYNAMIC_WITH_LAST dynamic
#endif

// clang 19 makes no code for `masked taskloop`.
#ifdef __clang__
#define MASKED master
#else
#define MASKED masked
#endif

/// A value that depends on the order of its arguments.
static inline u64 mix(u64 a, u64 b) {
    u64 x = (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 29);
}

/// Takes a few steps, seldom many: tasks and iterations of unequal length.
__attribute__((noinline)) static u64 work(u64 seed) {
    const int steps = (seed & 63) == 0 ? 3000 : (seed & 7) == 0 ? 200 : 3;
    for (int i = 0; i < steps; ++i) {
        seed = mix(seed, i);
    }
    return seed;
}

static inline u64 fold(u64 r, const u64* values, int count) {
    for (int i = 0; i < count; ++i) {
        r = mix(r, values[i]);
    }
    return r;
}

/// Two sums in one object, reduced by a user's declaration.
struct both {
    u64 sum;
    u64 bits;
};
#pragma omp declare reduction(merge : both : (omp_out.sum += omp_in.sum, omp_out.bits ^= omp_in.bits)) initializer(omp_priv = both{0, 0})

static int g_live = 0;

/// Counts its copies, so that each one that a task makes must be destroyed.
struct held {
    u64 value;
    u64 more[5];
    explicit held(u64 v) : value(v), more{v, v + 1, v + 2, v + 3, v + 4} { count(1); }
    held(const held& other) : value(other.value) {
        memcpy(more, other.more, sizeof more);
        count(1);
    }
    ~held() { count(-1); }
    u64 sum() const { return value + more[0] + more[1] + more[2] + more[3] + more[4]; }
    static void count(int change) {
#pragma omp atomic
        g_live += change;
    }
};

// What bodies add to; each is changed in one way only, by operations that commute.
static u64 g_sum, g_bits, g_product, g_captured, g_tickets, g_critical[3], g_locked[2], g_nested, g_largest;
static double g_double;
static unsigned g_unsigned;
static unsigned char g_byte;
static omp_lock_t g_lock[2];
static omp_nest_lock_t g_nest_lock;
static u64 g_private = 0;
#pragma omp threadprivate(g_private)

static void clear() {
    g_sum = g_bits = g_captured = g_tickets = g_nested = g_largest = 0;
    g_product = 1;
    g_double = 0;
    g_unsigned = 0;
    g_byte = 0;
    g_live = 0;
    memset(g_critical, 0, sizeof g_critical);
    memset(g_locked, 0, sizeof g_locked);
}

static u64 collect(u64 r) {
    const u64 all[] = {g_sum,         g_bits,        g_product,   g_captured,  g_tickets, g_critical[0], g_critical[1],
                       g_critical[2], g_locked[0],   g_locked[1], g_nested,    g_largest, static_cast<u64>(g_double),
                       g_unsigned,    g_byte,        static_cast<u64>(g_live)};
    return fold(r, all, sizeof all / sizeof *all);
}

// Trees of tasks, each way of waiting for the children.
static u64 tree_taskwait(u64 s, int depth) {
    if (depth == 0) {
        return work(s);
    }
    u64 a = 0;
    u64 b = 0;
#pragma omp task shared(a) final(depth < 2) mergeable
    a = tree_taskwait(mix(s, 1), depth - 1);
#pragma omp task shared(b) untied if (depth % 3 != 0)
    b = tree_taskwait(mix(s, 2), depth - 1 - static_cast<int>(depth > 1 && (s & 1)));
#pragma omp taskwait
    return mix(a, b);
}

static u64 tree_taskgroup(u64 s, int depth) {
    if (depth == 0) {
        return work(s);
    }
    u64 r[3] = {0, 0, 0};
#pragma omp taskgroup
    for (int i = 0; i < 3; ++i) {
#pragma omp task shared(r) firstprivate(i) priority(i)
        r[i] = tree_taskgroup(mix(s, i), depth - 1);
    }
    return fold(s, r, 3);
}

static u64 tree_depend(u64 s, int depth) {
    if (depth == 0) {
        return work(s);
    }
    u64 a = s;
    u64 b = 0;
#pragma omp task shared(a) depend(out : a)
    a = tree_depend(mix(s, 5), depth - 1);
#pragma omp task shared(a, b) depend(in : a) depend(out : b)
    b = mix(a, tree_depend(mix(s, 6), depth - 1));
#pragma omp task shared(a, b) depend(inout : a, b)
    a = mix(b, a);
#pragma omp taskwait
    return a;
}

static void add_tree(u64* sum, u64 s, int depth) {
#pragma omp atomic
    *sum += work(s);
    for (int i = 0; depth > 0 && i < 2; ++i) {
#pragma omp task firstprivate(sum, s, i, depth)
        add_tree(sum, mix(s, i), depth - 1);
    }
}

/// Its children are not waited for by their parents, but by the group.
static u64 tree_group(u64 s, int depth) {
    u64 sum = 0;
#pragma omp taskgroup
    add_tree(&sum, s, depth);
    return sum;
}

static void (*const g_unused[])() = {clear};

/// argv: the body to run (all without it, or with -1), and how often.
static int run_bodies(u64 (*const* bodies)(u64), int count, int argc, char** argv) {
    const int only = argc > 1 ? atoi(argv[1]) : -1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    (void)g_unused;
    for (int i = 0; i < 2; ++i) {
        omp_init_lock(&g_lock[i]);
    }
    omp_init_nest_lock(&g_nest_lock);
    for (int round = 0; round < rounds; ++round) {
        for (int body = 0; body < count; ++body) {
            if (only >= 0 && body != only) {
                continue;
            }
            printf("%d ", body);
            fflush(stdout);
            clear();
            u64 r = bodies[body](body + 1);
            printf("%016llx\n", collect(r));
            fflush(stdout);
        }
    }
    for (int i = 0; i < 2; ++i) {
        omp_destroy_lock(&g_lock[i]);
    }
    omp_destroy_nest_lock(&g_nest_lock);
    return 0;
}
