/* SPDX-License-Identifier: BSL-1.0 */
/* A histogram by task reduction: a taskgroup with an array and a maximum, tasks and their children
   in_reduction; then the same by reduction(task, ...) of a region. Whole numbers: the serial counts
   must be met exactly. Whole arrays, since what clang 19 makes of array sections writes beyond
   their copies. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_values = 20000, k_bins = 32, k_piece = 500 };

static uint32_t values[k_values];

static long count_serially(long* bins, uint32_t* largest) {
    long total = 0;
    for (int i = 0; i < k_values; ++i) {
        ++bins[values[i] % k_bins];
        if (values[i] > *largest) *largest = values[i];
        total += values[i] & 1;
    }
    return total;
}

static long by_taskgroup(long* counts, uint32_t* largest_found) {
    long bins[k_bins] = {0}, total = 0;
    uint32_t largest = 0;
#pragma omp taskgroup task_reduction(+ : bins, total) task_reduction(max : largest)
    for (int begin = 0; begin < k_values; begin += k_piece) {
#pragma omp task in_reduction(+ : bins, total) in_reduction(max : largest) firstprivate(begin)
        {
            for (int i = begin; i < begin + k_piece; ++i) {
                ++bins[values[i] % k_bins];
                if (values[i] > largest) largest = values[i];
            }
#pragma omp task in_reduction(+ : total) firstprivate(begin)
            for (int i = begin; i < begin + k_piece; ++i)
                total += values[i] & 1;
        }
    }
    *largest_found = largest;
    memcpy(counts, bins, sizeof bins);
    return total;
}

static long by_region(long* counts) {
    long bins[k_bins] = {0}, total = 0;
#pragma omp parallel reduction(task, + : bins, total)
    {
#pragma omp for nowait schedule(static, k_piece)
        for (int i = 0; i < k_values; ++i) {
            if (i % k_piece != 0) continue;
#pragma omp task in_reduction(+ : bins, total) firstprivate(i)
            for (int k = i; k < i + k_piece; ++k) {
                ++bins[values[k] % k_bins];
                total += values[k] & 1;
            }
        }
    }
    memcpy(counts, bins, sizeof bins);
    return total;
}

int main(void) {
    long grouped[k_bins] = {0}, regional[k_bins] = {0}, serial[k_bins] = {0};
    uint32_t random = 29, largest = 0, serial_largest = 0;
    for (int i = 0; i < k_values; ++i) {
        random = random * 1664525u + 1013904223u;
        values[i] = (random >> 12) * (random >> 20);
    }
    long total = -1;
#pragma omp parallel shared(grouped, largest, total)
#pragma omp single
    total = by_taskgroup(grouped, &largest);
    const long region_total = by_region(regional);
    const long serial_total = count_serially(serial, &serial_largest);
    if (memcmp(grouped, serial, sizeof serial) != 0 ||
        memcmp(regional, serial, sizeof serial) != 0 || total != serial_total ||
        region_total != serial_total || largest != serial_largest) {
        fprintf(stderr,
                "histogram: bins differ, or %ld and %ld odd values are not %ld, or %u is not %u\n",
                total, region_total, serial_total, largest, serial_largest);
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < k_bins; ++i)
        sum = sum * 31 + (uint64_t)grouped[i];
    printf("histogram %ld %u %016llx\n", total, largest, (unsigned long long)sum);
    return 0;
}
