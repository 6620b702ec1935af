// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::gemm {

namespace {

// clang-format off
void multiply(problem* p) {
    for (long i = 0; i < p->tiles(); ++i) {
        double* const row = p->a.at(i, 0).at;
        for (long j = 0; j < p->tiles(); ++j) {
            double* const column = p->b.at(0, j).at;
            double* const product = p->c.at(i, j).at;
#pragma omp task firstprivate(p, i, j) depend(in : *row, *column) depend(out : *product)
            p->multiply(i, j);
        }
    }
#pragma omp taskwait
}
// clang-format on

const dense::with_tiles depend{k_titles, "depend", [](const arguments& a, long tile) -> job {
                                   return openmp_job(
                                       a, [p = std::make_shared<problem>(a.size, tile)] {
                                           return dense::measured(*p, [&p] { multiply(p.get()); });
                                       });
                               }};

}  // namespace

}  // namespace bench::gemm
