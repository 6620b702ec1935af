// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

#include <memory>
#include <span>

namespace bench::gemm {

namespace {

std::span<double> elements(const blas::matrix& m) {
    return {m.at, static_cast<std::size_t>(m.stride) * static_cast<std::size_t>(m.columns)};
}

void multiply(problem& p) {
    quern::domain work;
    for (long i = 0; i < p.tiles(); ++i) {
        for (long j = 0; j < p.tiles(); ++j) {
            work.spawn({.name = "gemm"}, quern::in(elements(p.a.at(i, 0))),
                       quern::in(elements(p.b.at(0, j))), quern::out(elements(p.c.at(i, j))),
                       [&p, i, j] { p.multiply(i, j); });
        }
    }
    work.taskwait();
}

const dense::with_tiles domain{k_titles, "domain", [](const arguments& a, long tile) -> job {
                                   return quern_job(
                                       a, [p = std::make_shared<problem>(a.size, tile)] {
                                           return dense::measured(*p, [&p] { multiply(*p); });
                                       });
                               }};

}  // namespace

}  // namespace bench::gemm
