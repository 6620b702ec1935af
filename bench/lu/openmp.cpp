// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::lu {

namespace {

// The pivots of a panel need no dependence of their own: a task that reads them reads the panel.
// clang-format off
void factorise(problem* p) {
    for (long k = 0; k < p->panels(); ++k) {
        double* const from = p->a.at(0, k).at;
#pragma omp task firstprivate(p, k) depend(inout : *from) priority(2)
        p->factorise_panel(k);
        for (long j = k + 1; j < p->panels(); ++j) {
            double* const to = p->a.at(0, j).at;
#pragma omp task firstprivate(p, k, j) depend(in : *from) depend(inout : *to) priority(j == k + 1 ? 1 : 0)
            p->update(k, j);
        }
    }
#pragma omp taskwait
    for (long j = 0; j + 1 < p->panels(); ++j) {
#pragma omp task firstprivate(p, j)
        p->swap_later(j);
    }
#pragma omp taskwait
}
// clang-format on

const dense::with_tiles depend{k_titles, "depend", [](const arguments& a, long tile) -> job {
                                   return openmp_job(
                                       a, [p = std::make_shared<problem>(a.size, tile)] {
                                           return dense::measured(*p, [&p] { factorise(p.get()); });
                                       });
                               }};

}  // namespace

}  // namespace bench::lu
