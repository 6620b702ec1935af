// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::idle_cpu {

namespace {

const contender task{"idle_cpu", "task", [](const arguments& a) {
                         return idle_after(a, [workers = a.workers](long tasks, auto one) {
#pragma omp parallel num_threads(workers)
#pragma omp single
                             for (long i = 0; i < tasks; ++i) {
#pragma omp task
                                 one();
                             }
                         });
                     }};

}  // namespace

}  // namespace bench::idle_cpu
