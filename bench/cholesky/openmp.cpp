// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::cholesky {

namespace {

// clang-format off
void factorise(problem* p) {
    dense::tiled& a = p->a;
    const long n = a.rows();
    for (long k = 0; k < n; ++k) {
        const blas::matrix kk = a.at(k, k);
        const blas::matrix inverse = p->inverse(k);
#pragma omp task firstprivate(p, k) depend(inout : *kk.at) depend(out : *inverse.at) priority(rank(n, k, 3))
        p->factorise_diagonal(k);
        for (long i = k + 1; i < n; ++i) {
            const blas::matrix ik = a.at(i, k);
#pragma omp task firstprivate(inverse, ik) depend(in : *inverse.at) depend(inout : *ik.at) priority(rank(n, k, 2))
            blas::trmm_right(inverse, ik);
        }
        for (long i = k + 1; i < n; ++i) {
            const blas::matrix ik = a.at(i, k);
            for (long j = k + 1; j < i; ++j) {
                const blas::matrix jk = a.at(j, k);
                const blas::matrix ij = a.at(i, j);
#pragma omp task firstprivate(ik, jk, ij) depend(in : *ik.at, *jk.at) depend(inout : *ij.at) priority(rank(n, k, 0))
                subtract(ik, jk, ij);
            }
            const blas::matrix ii = a.at(i, i);
#pragma omp task firstprivate(ik, ii) depend(in : *ik.at) depend(inout : *ii.at) priority(rank(n, k, 1))
            blas::syrk(ik, ii);
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

}  // namespace bench::cholesky
