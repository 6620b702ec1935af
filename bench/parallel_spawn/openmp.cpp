// SPDX-License-Identifier: BSL-1.0
// The loop is OpenMP's own, so the time includes the parallel region: about a microsecond, because
// its threads are reused.
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::parallel_spawn {

namespace {

void spawn(auto tasks, long i) {
    tasks.spawn(i, [](auto task) {
#pragma omp task firstprivate(task)
        task();
    });
}

/// The barrier at the end of the loop waits for the tasks.
void in_loop(auto tasks, long n, int workers) {
#pragma omp parallel for num_threads(workers)
    for (long i = 0; i < n; ++i) {
        spawn(tasks, i);
    }
}

void in_taskloop(auto tasks, long n) {
#pragma omp taskloop
    for (long i = 0; i < n; ++i) {
        spawn(tasks, i);
    }
}

const contender loop{"parallel_spawn", "parallel_for", [](const arguments& a) -> job {
                         return null_problem(a.size, [workers = a.workers](auto t, long n) {
                             in_loop(t, n, workers);
                         });
                     }};
const contender taskloop{
    "parallel_spawn", "taskloop", [](const arguments& a) {
        return openmp_job(a, null_problem(a.size, [](auto t, long n) { in_taskloop(t, n); }));
    }};

}  // namespace

}  // namespace bench::parallel_spawn
