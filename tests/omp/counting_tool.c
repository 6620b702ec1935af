/* SPDX-License-Identifier: BSL-1.0 */
/* A tool of the OpenMP tools interface: counts every callback, and prints at the end the sums and
   which of them do not balance. Has the types that it needs itself, as the specification gives
   them. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

union data {
    uint64_t value;
    void* pointer;
};
typedef void (*function)(void);
typedef function (*lookup_function)(const char*);

static atomic_long counts[64];
static atomic_long team_sizes, implicit_begins, implicit_ends, thread_errors;
static atomic_long task_ends[16];
static atomic_long region_begins[16], region_ends[16], wait_begins[16], wait_ends[16],
    work_begins[16], work_ends[16];
static atomic_long masked[3], reductions[3], nested[3], tried, tried_and_taken, dependences,
    disorder;
static lookup_function find;

static void add(atomic_long* to, long many) { atomic_fetch_add(to, many); }

static void on_thread_begin(int kind, union data* of) {
    add(&counts[1], 1);
    if (kind < 1 || kind > 3 || of == NULL) {
        add(&thread_errors, 1);
    }
}
static void on_thread_end(union data* of) {
    (void)of;
    add(&counts[2], 1);
}
static void on_parallel_begin(union data* task, const void* frame, union data* region,
                              unsigned asked, int flags, const void* at) {
    (void)task, (void)frame, (void)asked, (void)flags, (void)at;
    add(&counts[3], 1);
    region->value = 0;
}
static void on_parallel_end(union data* region, union data* task, int flags, const void* at) {
    (void)task, (void)flags, (void)at;
    add(&counts[4], 1);
    add(&team_sizes, (long)(region->value & 0xffff));
    if (region->value >> 32 != (region->value & 0xffff)) {
        add(&disorder, 1); /* not every member has begun an implicit task */
    }
}
static void on_task_create(union data* by, const void* frame, union data* made, int flags,
                           int depends, const void* at) {
    (void)by, (void)frame, (void)flags, (void)depends, (void)at;
    add(&counts[5], 1);
    made->value = 1;
}
static void on_task_schedule(union data* before, int status, union data* next) {
    add(&counts[6], 1);
    add(&task_ends[status], 1);
    if (status == 7 && next != NULL) {
        if (next->value != 1) {
            add(&disorder, 1); /* begins for the second time, or was not created */
        }
        next->value = 2;
    } else if (status != 7) {
        if (before->value != 2 && status != 6) {
            add(&disorder, 1);
        }
        before->value = 3;
    }
}
static void on_implicit_task(int endpoint, union data* region, union data* task, unsigned size,
                             unsigned number, int flags) {
    (void)task, (void)number;
    add(&counts[7], 1);
    if ((flags & 1) != 0) {
        return; /* an initial task */
    }
    add(endpoint == 1 ? &implicit_begins : &implicit_ends, 1);
    if (endpoint == 1) {
        /* the low half becomes the size, the high half counts members */
        __atomic_fetch_add(&region->value, 1ULL << 32, __ATOMIC_SEQ_CST);
        __atomic_fetch_or(&region->value, size, __ATOMIC_SEQ_CST);
    }
}
static void on_sync(int kind, int endpoint, union data* region, union data* task, const void* at) {
    (void)region, (void)task, (void)at;
    add(&counts[23], 1);
    add(endpoint == 1 ? &region_begins[kind] : &region_ends[kind], 1);
}
static void on_sync_wait(int kind, int endpoint, union data* region, union data* task,
                         const void* at) {
    (void)region, (void)task, (void)at;
    add(&counts[16], 1);
    add(endpoint == 1 ? &wait_begins[kind] : &wait_ends[kind], 1);
}
static void on_work(int kind, int endpoint, union data* region, union data* task, uint64_t count,
                    const void* at) {
    (void)region, (void)task, (void)count, (void)at;
    add(&counts[20], 1);
    add(endpoint == 1 ? &work_begins[kind] : &work_ends[kind], 1);
}
static void on_dependences(union data* task, const void* all, int count) {
    (void)task, (void)all;
    add(&counts[18], 1);
    add(&dependences, count);
}
static void on_masked(int endpoint, union data* region, union data* task, const void* at) {
    (void)region, (void)task, (void)at;
    add(&counts[21], 1);
    add(&masked[endpoint], 1);
}
static void on_reduction(int kind, int endpoint, union data* region, union data* task,
                         const void* at) {
    (void)kind, (void)region, (void)task, (void)at;
    add(&counts[31], 1);
    add(&reductions[endpoint], 1);
}
static void on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t wait, const void* at) {
    (void)kind, (void)hint, (void)impl, (void)wait, (void)at;
    add(&counts[24], 1);
}
static void on_lock_destroy(int kind, uint64_t wait, const void* at) {
    (void)kind, (void)wait, (void)at;
    add(&counts[25], 1);
}
static void on_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait, const void* at) {
    (void)hint, (void)impl, (void)wait, (void)at;
    add(&counts[26], 1);
    add(&tried, kind == 2 || kind == 4);
}
static void on_acquired(int kind, uint64_t wait, const void* at) {
    (void)wait, (void)at;
    add(&counts[27], 1);
    add(&tried_and_taken, kind == 2 || kind == 4);
}
static void on_released(int kind, uint64_t wait, const void* at) {
    (void)kind, (void)wait, (void)at;
    add(&counts[17], 1);
}
static void on_nested(int endpoint, uint64_t wait, const void* at) {
    (void)wait, (void)at;
    add(&counts[28], 1);
    add(&nested[endpoint], 1);
}
static void on_flush(union data* thread, const void* at) {
    (void)thread, (void)at;
    add(&counts[29], 1);
}
static void on_cancel(union data* task, int flags, const void* at) {
    (void)task, (void)flags, (void)at;
    add(&counts[30], 1);
}

static int failures;
static void expect(const char* what, long is, long expected) {
    if (is != expected) {
        ++failures;
        fprintf(stderr, "tool: UNBALANCED %s: %ld, expected %ld\n", what, is, expected);
    }
}

/* Through the pointer: a function of another number of arguments is no error of the compiler. */
#define FUNCTION(F) ((function)(F))

static int initialize(lookup_function lookup, int device, union data* data) {
    static const struct {
        int event;
        int least; /* what setting it must return at least: 3 sometimes, 5 always; 1: never */
        function call;
    } all[] = {{1, 5, FUNCTION(on_thread_begin)},   {2, 5, FUNCTION(on_thread_end)},
               {3, 5, FUNCTION(on_parallel_begin)}, {4, 5, FUNCTION(on_parallel_end)},
               {5, 5, FUNCTION(on_task_create)},    {6, 5, FUNCTION(on_task_schedule)},
               {7, 5, FUNCTION(on_implicit_task)},  {16, 3, FUNCTION(on_sync_wait)},
               {17, 3, FUNCTION(on_released)},      {18, 3, FUNCTION(on_dependences)},
               {20, 3, FUNCTION(on_work)},          {21, 3, FUNCTION(on_masked)},
               {23, 3, FUNCTION(on_sync)},          {24, 3, FUNCTION(on_lock_init)},
               {25, 3, FUNCTION(on_lock_destroy)},  {26, 3, FUNCTION(on_acquire)},
               {27, 3, FUNCTION(on_acquired)},      {28, 3, FUNCTION(on_nested)},
               {29, 3, FUNCTION(on_flush)},         {30, 3, FUNCTION(on_cancel)},
               {31, 3, FUNCTION(on_reduction)}};
    (void)device, (void)data;
    find = lookup;
    int (*const set)(int, function) = (int (*)(int, function))lookup("ompt_set_callback");
    int (*const get)(int, function*) = (int (*)(int, function*))lookup("ompt_get_callback");
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i) {
        const int result = set(all[i].event, all[i].call);
        function known = NULL;
        if (result < all[i].least || get(all[i].event, &known) != 1 || known != all[i].call) {
            ++failures;
            fprintf(stderr, "tool: UNBALANCED callback %d: set returns %d\n", all[i].event, result);
        }
    }
    expect("set_callback of the event 8 (target)", set(8, FUNCTION(on_flush)), 1);
    expect("set_callback of the event 99", set(99, FUNCTION(on_flush)), 0);
    expect("lookup of an unknown name", lookup("ompt_no_such_function") != NULL, 0);
    int (*const next_state)(int, int*, const char**) =
        (int (*)(int, int*, const char**))lookup("ompt_enumerate_states");
    int state = 0x102, states = 0;
    const char* name = NULL;
    while (next_state(state, &state, &name) != 0) {
        ++states;
    }
    expect("states", states, 14);
    expect("processors", ((int (*)(void))lookup("ompt_get_num_procs"))() >= 1, 1);
    uint64_t (*const unique)(void) = (uint64_t(*)(void))lookup("ompt_get_unique_id");
    expect("numbers that differ", unique() != unique(), 1);
    return 1;
}

static void finalize(union data* data) {
    (void)data;
    expect("threads that end", counts[2], counts[1]);
    expect("threads of no kind", thread_errors, 0);
    expect("regions that end", counts[4], counts[3]);
    expect("implicit tasks that begin", implicit_begins, team_sizes);
    expect("implicit tasks that end", implicit_ends, team_sizes);
    expect("tasks that end", task_ends[1] + task_ends[3] + task_ends[4], counts[5]);
    expect("tasks that begin", task_ends[7], counts[5]);
    expect("events of tasks with detach", task_ends[6], task_ends[4]);
    expect("events in a wrong order", disorder, 0);
    for (int kind = 0; kind < 16; ++kind) {
        expect("regions of synchronization that end", region_ends[kind], region_begins[kind]);
        expect("waits that end", wait_ends[kind], wait_begins[kind]);
        expect("waits", wait_begins[kind], region_begins[kind]);
        expect("work that ends", work_ends[kind], work_begins[kind]);
    }
    expect("barriers at ends of regions", region_begins[9], team_sizes);
    expect("masked that end", masked[2], masked[1]);
    expect("reductions that end", reductions[2], reductions[1]);
    expect("nested locks taken again and given back", nested[2], nested[1]);
    expect("mutexes released", counts[17], counts[27]);
    expect("mutexes acquired", counts[27] - tried_and_taken, counts[26] - tried);
    expect("locks destroyed", counts[25], counts[24]);
    fprintf(stderr,
            "tool: threads %ld regions %ld implicit %ld tasks %ld dependences %ld loops %ld "
            "singles %ld barriers %ld",
            (long)counts[1], (long)counts[3], (long)implicit_begins, (long)counts[5],
            (long)dependences, (long)work_begins[1], (long)work_begins[3],
            region_begins[3] + region_begins[4] + region_begins[8] + region_begins[9]);
    fprintf(stderr,
            " taskwaits %ld taskgroups %ld mutexes %ld locks %ld masked %ld reductions %ld cancels "
            "%ld flushes %ld\n",
            (long)region_begins[5], (long)region_begins[6], (long)counts[27], (long)counts[24],
            (long)masked[1], (long)reductions[1], (long)counts[30], (long)counts[29]);
    fprintf(stderr, "tool: %s\n", failures == 0 ? "balanced" : "not balanced");
}

static struct {
    int (*initialize)(lookup_function, int, union data*);
    void (*finalize)(union data*);
    union data data;
} result = {initialize, finalize, {0}};

__attribute__((visibility("default"))) void* ompt_start_tool(unsigned version,
                                                             const char* runtime) {
    fprintf(stderr, "tool: started by %s, version %u\n", runtime, version);
    return &result;
}
