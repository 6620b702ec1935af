// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::wake_latency {

namespace {

void spawn_and_watch(wake_up& w) {
    w.stay_busy();
    w.spawns();
#pragma omp task shared(w)
    w.starts();
    w.watch();
#pragma omp taskwait
}

const contender task{"wake_latency", "task", [](const arguments& a) {
                         return openmp_job(
                             a, [count = a.size] { return wake_ups(count, spawn_and_watch); });
                     }};

}  // namespace

}  // namespace bench::wake_latency
