// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::serial_spawn {

namespace {

void with_tasks(auto tasks, long n) {
    for (long i = 0; i < n; ++i) {
        tasks.spawn(i, [](auto task) {
#pragma omp task firstprivate(task)
            task();
        });
    }
#pragma omp taskwait
}

const contender task{"serial_spawn", "task", [](const arguments& a) {
                         return openmp_job(
                             a, null_problem(a.size, [](auto t, long n) { with_tasks(t, n); }));
                     }};

}  // namespace

}  // namespace bench::serial_spawn
