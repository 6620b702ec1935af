/* SPDX-License-Identifier: BSL-1.0 */
/* Prime numbers by segments: a league of teams distributes the segments and each team's region
   sieves them, then a collapsed `distribute parallel for` counts twins. Whole numbers: the serial
   sieve must be met exactly. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { k_segments = 16, k_size = 1000, k_range = k_segments * k_size, k_root = 127 };

static unsigned char composite[k_range], serial[k_range];
static int small_primes[k_root], small_count;

static void sieve_segment(int segment) {
    const int begin = segment * k_size, end = begin + k_size;
#pragma omp parallel for schedule(static, 4)
    for (int half = 0; half < 8; ++half) {
        const int from = begin + half * k_size / 8,
                  to = half == 7 ? end : begin + (half + 1) * k_size / 8;
        for (int p = 0; p < small_count; ++p) {
            int i = (from + small_primes[p] - 1) / small_primes[p] * small_primes[p];
            if (i < 2 * small_primes[p]) i = 2 * small_primes[p];
            for (; i < to; i += small_primes[p])
                composite[i] = 1;
        }
    }
}

int main(void) {
    int teams = 0, out_of_range = 0;
    long twins = 0, serial_twins = 0, primes = 0;
    for (int i = 2; i < k_range; ++i) {
        if (serial[i]) continue;
        if (i < k_root) small_primes[small_count++] = i;
        for (int j = 2 * i; j < k_range; j += i)
            serial[j] = 1;
    }
#pragma omp teams num_teams(2) thread_limit(4) reduction(+ : out_of_range) shared(teams)
    {
        if (omp_get_team_num() == 0) teams = omp_get_num_teams();
        out_of_range += omp_get_team_num() >= omp_get_num_teams();
#pragma omp distribute dist_schedule(static, 2)
        for (int segment = 0; segment < k_segments; ++segment)
            sieve_segment(segment);
    }
#pragma omp teams distribute parallel for collapse(2) reduction(+ : twins, primes) schedule(guided)
    for (int segment = 0; segment < k_segments; ++segment) {
        for (int i = 0; i < k_size; ++i) {
            const int x = segment * k_size + i;
            if (x < 2 || composite[x]) continue;
            ++primes;
            twins += x > 4 && !composite[x - 2];
        }
    }
    long serial_primes = 0;
    uint64_t sum = 0;
    for (int i = 2; i < k_range; ++i) {
        serial_primes += !serial[i];
        serial_twins += i > 4 && !serial[i] && !serial[i - 2];
        sum = sum * 31 + composite[i];
    }
    if (memcmp(composite, serial, sizeof serial) != 0 || twins != serial_twins ||
        primes != serial_primes || out_of_range != 0 || teams < 1 || teams > 2) {
        fprintf(stderr, "sieve: %ld primes and %ld twins, serially %ld and %ld; %d teams\n", primes,
                twins, serial_primes, serial_twins, teams);
        return 1;
    }
    printf("sieve %ld %ld %016llx\n", primes, twins, (unsigned long long)sum);
    return 0;
}
