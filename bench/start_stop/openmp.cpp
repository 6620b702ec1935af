// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <stdexcept>

namespace bench::start_stop {

namespace {

long life(int workers) {
    long answer = 0;
#pragma omp parallel num_threads(workers)
#pragma omp single
    {
#pragma omp task shared(answer)
        answer = k_answer;
#pragma omp taskwait
    }
    if (omp_pause_resource_all(omp_pause_hard) != 0) {
        throw std::runtime_error("omp_pause_resource_all failed");
    }
    return answer;
}

const contender pause{"start_stop", "pause", [](const arguments& a) {
                          return lives([workers = a.workers] { return life(workers); });
                      }};

}  // namespace

}  // namespace bench::start_stop
