// SPDX-License-Identifier: BSL-1.0
// Monte Carlo by taskloop: the numbers come from a function of the sample's index, so that every
// division of the samples counts the same hits. Reductions of a sum and of a type by `declare
// reduction`; grainsize, num_tasks, nogroup, collapse.
#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace {

constexpr int k_samples = 20000;

struct extremes {
    std::uint32_t least = UINT32_MAX, most = 0, count = 0;

    void add(std::uint32_t x) {
        least = std::min(least, x);
        most = std::max(most, x);
        ++count;
    }
    void merge(const extremes& other) {
        least = std::min(least, other.least);
        most = std::max(most, other.most);
        count += other.count;
    }
    bool operator==(const extremes&) const = default;
};
#pragma omp declare reduction(merge:extremes \
                              : omp_out.merge(omp_in)) initializer(omp_priv = extremes{})

std::uint32_t random_of(std::uint64_t index) {
    index += 0x9e3779b97f4a7c15u;
    index = (index ^ index >> 30) * 0xbf58476d1ce4e5b9u;
    index = (index ^ index >> 27) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((index ^ index >> 31) >> 32);
}

bool inside(int sample) {
    const std::uint64_t x = random_of(2u * sample) >> 16, y = random_of(2u * sample + 1) >> 16;
    return x * x + y * y < 65536ull * 65536ull;
}

struct answer {
    long hits = 0, third_hits = 0, grid = 0, late = 0;
    extremes range;
    bool operator==(const answer&) const = default;
};

answer by_taskloop() {
    long hits = 0, third_hits = 0, grid = 0, late = 0;
    extremes range;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp taskloop nogroup num_tasks(9) shared(late)
            for (int i = 0; i < k_samples / 8; ++i) {
                if (inside(i * 8)) {
#pragma omp atomic
                    ++late;
                }
            }
        }
#pragma omp taskloop reduction(+ : hits) reduction(merge : range) grainsize(300)
        for (int i = 0; i < k_samples; ++i) {
            hits += inside(i);
            range.add(random_of(i));
        }
#pragma omp taskloop reduction(+ : third_hits) num_tasks(7)
        for (int i = k_samples - 1; i >= 0; i -= 3)
            third_hits += inside(i);
#pragma omp taskloop collapse(2) reduction(+ : grid)
        for (int i = 0; i < 40; ++i) {
            for (int j = 5; j < 45; ++j)
                grid += inside(i * 97 + j);
        }
    }
    return {hits, third_hits, grid, late, range};
}

answer serially() {
    answer a;
    for (int i = 0; i < k_samples; ++i) {
        a.hits += inside(i);
        a.late += i % 8 == 0 && inside(i);
        a.third_hits += i % 3 == (k_samples - 1) % 3 && inside(i);
        a.range.add(random_of(i));
    }
    for (int i = 0; i < 40; ++i) {
        for (int j = 5; j < 45; ++j)
            a.grid += inside(i * 97 + j);
    }
    return a;
}

}  // namespace

int main() {
    const answer parallel = by_taskloop(), serial = serially();
    if (!(parallel == serial)) {
        std::fprintf(
            stderr,
            "monte_carlo: hits %ld %ld %ld %ld, range of %u; serially %ld %ld %ld %ld, %u\n",
            parallel.hits, parallel.third_hits, parallel.grid, parallel.late, parallel.range.count,
            serial.hits, serial.third_hits, serial.grid, serial.late, serial.range.count);
        return 1;
    }
    std::printf("monte_carlo %ld %ld %ld %ld %08x\n", parallel.hits, parallel.third_hits,
                parallel.grid, parallel.late, parallel.range.most - parallel.range.least);
}
