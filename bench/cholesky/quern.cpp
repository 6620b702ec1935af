// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

#include <cstdint>
#include <memory>

namespace bench::cholesky {

namespace {

auto elements(const blas::matrix& tile) {
    return std::span(tile.at,
                     static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.columns));
}

void factorise(problem& p) {
    using quern::in;
    using quern::inout;
    using quern::out;
    dense::tiled& a = p.a;
    const long n = a.rows();
    quern::domain work;
    for (long k = 0; k < n; ++k) {
        const auto ranked = [n, k](const char* name, int within) {
            return quern::task_attributes{.name = name,
                                          .rank = static_cast<std::int16_t>(rank(n, k, within))};
        };
        const blas::matrix kk = a.at(k, k);
        const blas::matrix inverse = p.inverse(k);
        work.spawn(ranked("potrf", 3), inout(elements(kk)), out(elements(inverse)),
                   [&p, k] { p.factorise_diagonal(k); });
        for (long i = k + 1; i < n; ++i) {
            const blas::matrix ik = a.at(i, k);
            work.spawn(ranked("trsm", 2), in(elements(inverse)), inout(elements(ik)),
                       [inverse, ik] { blas::trmm_right(inverse, ik); });
        }
        for (long i = k + 1; i < n; ++i) {
            const blas::matrix ik = a.at(i, k);
            for (long j = k + 1; j < i; ++j) {
                const blas::matrix jk = a.at(j, k);
                const blas::matrix ij = a.at(i, j);
                work.spawn(ranked("gemm", 0), in(elements(ik)), in(elements(jk)),
                           inout(elements(ij)), [ik, jk, ij] { subtract(ik, jk, ij); });
            }
            const blas::matrix ii = a.at(i, i);
            work.spawn(ranked("syrk", 1), in(elements(ik)), inout(elements(ii)),
                       [ik, ii] { blas::syrk(ik, ii); });
        }
    }
    work.taskwait();
}

const dense::with_tiles domain{k_titles, "domain", [](const arguments& a, long tile) -> job {
                                   return quern_job(
                                       a, [p = std::make_shared<problem>(a.size, tile)] {
                                           return dense::measured(*p, [&p] { factorise(*p); });
                                       });
                               }};

}  // namespace

}  // namespace bench::cholesky
