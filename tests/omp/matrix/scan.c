/* SPDX-License-Identifier: BSL-1.0 */
/* Scans by reduction(inscan, ...): a stream is compacted with the exclusive sum of its flags, then
   its running maximum and running sum are inclusive scans. Whole numbers: exact serial answers. The
   constructs are combined and begin at the neutral element, since clang 19 compiles other scans
   wrongly. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_count = 5000 };

static int64_t values[k_count], packed[k_count], serial_packed[k_count];
static int64_t highest[k_count], serial_highest[k_count], sums[k_count], serial_sums[k_count];

static int compact(void) {
    int place = 0;
#pragma omp parallel for reduction(inscan, + : place)
    for (int i = 0; i < k_count; ++i) {
        if (values[i] % 3 != 0) packed[place] = values[i];
#pragma omp scan exclusive(place)
        place += values[i] % 3 != 0;
    }
    return place;
}

static int64_t running(int n) {
    int64_t most = INT64_MIN, sum = 0;
#pragma omp parallel for reduction(inscan, max : most)
    for (int i = 0; i < n; ++i) {
        most = packed[i] > most ? packed[i] : most;
#pragma omp scan inclusive(most)
        highest[i] = most;
    }
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
        sum += packed[i];
#pragma omp scan inclusive(sum)
        sums[i] = sum;
    }
    return most + sum;
}

int main(void) {
    uint32_t random = 31;
    for (int i = 0; i < k_count; ++i) {
        random = random * 1664525u + 1013904223u;
        values[i] = (int64_t)(random >> 6) % (i + 100) - 50;
    }
    const int n = compact();
    const int64_t last = running(n);
    int serial_n = 0;
    int64_t most = INT64_MIN, sum = 0;
    for (int i = 0; i < k_count; ++i) {
        if (values[i] % 3 == 0) continue;
        most = values[i] > most ? values[i] : most;
        sum += values[i];
        serial_packed[serial_n] = values[i];
        serial_highest[serial_n] = most;
        serial_sums[serial_n++] = sum;
    }
    if (n != serial_n || last != most + sum || memcmp(packed, serial_packed, sizeof packed) != 0 ||
        memcmp(highest, serial_highest, sizeof highest) != 0 ||
        memcmp(sums, serial_sums, sizeof sums) != 0) {
        fprintf(stderr,
                "scan: %d values instead of %d, last %lld instead of %lld, or others differ\n", n,
                serial_n, (long long)last, (long long)(most + sum));
        return 1;
    }
    uint64_t total = 0;
    for (int i = 0; i < n; ++i)
        total = total * 31 + (uint64_t)(highest[i] ^ sums[i]);
    printf("scan %d %016llx\n", n, (unsigned long long)total);
    return 0;
}
