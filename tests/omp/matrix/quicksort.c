/* SPDX-License-Identifier: BSL-1.0 */
/* Quicksort by tasks: one half is a task, deferred by `if` only when large, `final` when small, and
   `mergeable`; the other half is sorted by the same task. The serial answer is that of qsort on
   whole numbers. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_count = 30000, k_small = 24, k_final = 400 };

static int32_t parallel[k_count], serial[k_count];

static void insertion_sort(int32_t* a, long n) {
    for (long i = 1; i < n; ++i) {
        const int32_t x = a[i];
        long j = i;
        for (; j > 0 && a[j - 1] > x; --j)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

static long partition(int32_t* a, long n) {
    const int32_t pivot = a[n / 2];
    long i = -1, j = n;
    for (;;) {
        while (a[++i] < pivot) {
        }
        while (a[--j] > pivot) {
        }
        if (i >= j) return j + 1;
        const int32_t x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
}

static void sort(int32_t* a, long n) {
    while (n > k_small) {
        const long middle = partition(a, n);
        int32_t* rest = a + middle;
        const long count = n - middle;
#pragma omp task if (count > 100) final(count < k_final) mergeable firstprivate(rest, count)
        sort(rest, count);
        n = middle;
    }
    insertion_sort(a, n);
#pragma omp taskwait
}

static int compare(const void* a, const void* b) {
    const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

int main(void) {
    uint32_t random = 5;
    for (int i = 0; i < k_count; ++i) {
        random = random * 1664525u + 1013904223u;
        parallel[i] = serial[i] = i % 7 == 0 ? i % 100 : (int32_t)(random >> 4) - 100000000;
    }
#pragma omp parallel
#pragma omp single nowait
    sort(parallel, k_count);
    qsort(serial, k_count, sizeof *serial, compare);
    if (memcmp(parallel, serial, sizeof serial) != 0) {
        fputs("quicksort: the numbers are not those that qsort gives\n", stderr);
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_count; ++i)
        sum = sum * 31 + (uint32_t)parallel[i];
    printf("quicksort %016llx\n", (unsigned long long)sum);
    return 0;
}
