// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::phase_change {

namespace {

const contender task{"phase_change", "task", [](const arguments& a) {
                         return openmp_job(a, [all = std::make_shared<phases>(a)] {
                             return all->run([](long count, auto one) {
                                 for (long i = 0; i < count; ++i) {
#pragma omp task shared(one) firstprivate(i)
                                     one(i);
                                 }
#pragma omp taskwait
                             });
                         });
                     }};

}  // namespace

}  // namespace bench::phase_change
