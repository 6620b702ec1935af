// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::heat {

namespace {

/// Runs in a parallel region of its own.
parallel_loop static_loop(int workers) {
    return [workers](std::size_t n, const std::function<void(std::size_t)>& f) {
#pragma omp parallel for schedule(static) num_threads(workers)
        for (std::size_t i = 0; i < n; ++i) {
            f(i);
        }
    };
}

/// One region for all steps; each thread has the same blocks in every step.
void with_loop(rings& r) {
#pragma omp parallel num_threads(static_cast <int>(r.workers()))
    for (int step = 1; step <= r.steps(); ++step) {
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < r.partitions(); ++i) {
            r.advance(i, step);
        }
    }
}

/// Only the three tasks that a task needs read the data that it overwrites.
void describe_tasks(rings& r) {
    const std::size_t count = r.partitions();
    std::vector<char> tokens(2 * count);  // stand for the partitions of both grids
    for (int step = 1; step <= r.steps(); ++step) {
        // gcc does not see that the clauses use them.
        [[maybe_unused]] const char* const before = tokens.data() + (step % 2 == 0 ? count : 0);
        [[maybe_unused]] char* const now = tokens.data() + (step % 2 == 0 ? 0 : count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t left = (i + count - 1) % count;
            const std::size_t right = (i + 1) % count;
// clang-format off
#pragma omp task firstprivate(i, step) shared(r) depend(in : before[left], before[i], before[right]) depend(out : now[i])
            // clang-format on
            r.advance(i, step);
        }
    }
#pragma omp taskwait
}

void with_depend(rings& r) {
#pragma omp parallel num_threads(static_cast <int>(r.workers()))
#pragma omp single
    describe_tasks(r);
}

/// Not inside a region, unlike other problems: the loops use all threads.
template <class Sweep>
job checked(const arguments& a, std::size_t partition, Sweep sweep) {
    return [r = std::make_shared<rings>(a, partition), loop = static_loop(a.workers), sweep] {
        return measured(*r, loop, [&] { sweep(*r); });
    };
}

const contender in_loop{"heat", "static",
                        [](const arguments& a) { return checked(a, rings::k_block, with_loop); }};
const contender small{"heat", "depend_10000",
                      [](const arguments& a) { return checked(a, 10'000, with_depend); }};
const contender large{"heat", "depend_100000",
                      [](const arguments& a) { return checked(a, 100'000, with_depend); }};

}  // namespace

}  // namespace bench::heat
