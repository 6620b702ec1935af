// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::qr {

namespace {

// clang-format off
void factorise(problem* p) {
    const long n = p->tiles();
    for (long k = 0; k < n; ++k) {
        double* const kk = p->a.at(k, k).at;
        double* const vectors = p->vectors(k).at;
#pragma omp task firstprivate(p, k) depend(inout : *kk) depend(out : *vectors) priority(rank(n, k, 3))
        p->geqrt(k);
        for (long j = k + 1; j < n; ++j) {
            double* const kj = p->a.at(k, j).at;
#pragma omp task firstprivate(p, k, j) depend(in : *vectors) depend(inout : *kj) priority(rank(n, k, 1))
            p->unmqr(k, j);
        }
        for (long i = k + 1; i < n; ++i) {
            double* const ik = p->a.at(i, k).at;
#pragma omp task firstprivate(p, k, i) depend(inout : *kk, *ik) priority(rank(n, k, 3))
            p->tsqrt(k, i);
            for (long j = k + 1; j < n; ++j) {
                double* const kj = p->a.at(k, j).at;
                double* const ij = p->a.at(i, j).at;
#pragma omp task firstprivate(p, k, i, j) depend(in : *ik) depend(inout : *kj, *ij) priority(rank(n, k, j == k + 1 ? 2 : 0))
                p->tsmqr(k, i, j);
            }
        }
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

}  // namespace bench::qr
