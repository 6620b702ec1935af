/* SPDX-License-Identifier: BSL-1.0 */
/* A report whose lines are made by all members and written in order: a loop with `ordered` under
   five schedules, then one that runs backwards and leaves lines out. The text must be that of the
   serial loop. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_lines = 60, k_room = k_lines * 32 };

struct text {
    int length;
    char characters[k_room];
};

static struct text parallel, serial;

static void make_line(char* line, int number) {
    uint32_t x = (uint32_t)number + 1;
    for (int i = 0; i < 2000; ++i)
        x = x * 1664525u + 1013904223u;
    sprintf(line, "line %d: %08x\n", number, x);
}

static void append(struct text* to, const char* line) {
    const int n = (int)strlen(line);
    memcpy(to->characters + to->length, line, (size_t)n);
    to->length += n;
}

static void write_by_schedule(omp_sched_t kind, int chunk) {
    omp_set_schedule(kind, chunk);
    parallel.length = 0;
#pragma omp parallel for ordered schedule(runtime)
    for (int i = 0; i < k_lines; ++i) {
        char line[32];
        make_line(line, i);
#pragma omp ordered
        append(&parallel, line);
    }
}

/* Backwards, and not every iteration has something to write. */
static int write_some(void) {
    int written = 0;
    parallel.length = 0;
#pragma omp parallel
#pragma omp for ordered schedule(dynamic, 2) nowait
    for (int i = k_lines - 1; i >= 0; --i) {
        char line[32];
        if (i % 4 == 1) continue;
        make_line(line, i);
#pragma omp ordered
        {
            append(&parallel, line);
            ++written;
        }
    }
    return written;
}

static int differs(void) {
    return parallel.length != serial.length ||
           memcmp(parallel.characters, serial.characters, (size_t)serial.length) != 0;
}

int main(void) {
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_static, omp_sched_dynamic,
                                        omp_sched_guided, omp_sched_auto};
    static const int chunks[] = {0, 3, 2, 1, 0};
    char line[32];
    for (int i = 0; i < k_lines; ++i) {
        make_line(line, i);
        append(&serial, line);
    }
    uint64_t sum = 0;
    for (int k = 0; k < 5; ++k) {
        write_by_schedule(kinds[k], chunks[k]);
        if (differs()) {
            fprintf(stderr, "ordered_output: schedule %d,%d gives another text\n", (int)kinds[k],
                    chunks[k]);
            return 1;
        }
        for (int i = 0; i < parallel.length; ++i)
            sum = sum * 31 + (uint64_t)parallel.characters[i];
    }
    const int written = write_some();
    serial.length = 0;
    for (int i = k_lines - 1; i >= 0; --i) {
        if (i % 4 == 1) continue;
        make_line(line, i);
        append(&serial, line);
    }
    if (written != k_lines - k_lines / 4 || differs()) {
        fprintf(stderr, "ordered_output: %d lines backwards, or another text\n", written);
        return 1;
    }
    printf("ordered_output %d %016llx\n", written, (unsigned long long)sum);
    return 0;
}
