// SPDX-License-Identifier: BSL-1.0
// The loop is OpenMP's own, so the time includes the parallel region: about a microsecond, because
// its threads are reused.
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace bench::loop_null {

namespace {

void in_equal_parts(auto tasks, long n, int workers) {
#pragma omp parallel for num_threads(workers)
    for (long i = 0; i < n; ++i) {
        tasks[i]();
    }
}

void by_ones(auto tasks, long n, int workers) {
#pragma omp parallel for num_threads(workers) schedule(dynamic, 1)
    for (long i = 0; i < n; ++i) {
        tasks[i]();
    }
}

void as_tasks(auto tasks, long n, int workers) {
#pragma omp parallel master taskloop num_threads(workers) grainsize(1)
    for (long i = 0; i < n; ++i) {
        tasks[i]();
    }
}

const contender by_default{"loop_null", "default", [](const arguments& a) -> job {
                               return null_problem(a.size, [workers = a.workers](auto t, long n) {
                                   in_equal_parts(t, n, workers);
                               });
                           }};
const contender dynamic{"loop_null", "grain_1", [](const arguments& a) -> job {
                            return null_problem(a.size, [workers = a.workers](auto t, long n) {
                                by_ones(t, n, workers);
                            });
                        }};
/// libgomp keeps a pointer to each task of a taskloop on the stack: 8 MiB here, the usual size of
/// the main thread's stack.
void enlarge_main_stack() {
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 64 << 20));
    setrlimit(RLIMIT_STACK, &limit);
}

const contender taskloop{"loop_null", "taskloop_1", [](const arguments& a) -> job {
                             enlarge_main_stack();
                             return null_problem(a.size, [workers = a.workers](auto t, long n) {
                                 as_tasks(t, n, workers);
                             });
                         }};

}  // namespace

}  // namespace bench::loop_null
