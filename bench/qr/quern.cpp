// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace bench::qr {

namespace {

std::span<double> elements(const blas::matrix& m) {
    return {m.at, static_cast<std::size_t>(m.stride) * static_cast<std::size_t>(m.columns)};
}

void factorise(problem& p) {
    using quern::in;
    using quern::inout;
    using quern::out;
    const long n = p.tiles();
    quern::domain work;
    for (long k = 0; k < n; ++k) {
        const auto ranked = [n, k](const char* name, int within) {
            return quern::task_attributes{.name = name,
                                          .rank = static_cast<std::int16_t>(rank(n, k, within))};
        };
        const auto kk = elements(p.a.at(k, k));
        const auto vectors = elements(p.vectors(k));
        const auto of_kk = elements(p.factors(k, k));
        work.spawn(ranked("geqrt", 3), inout(kk), out(of_kk), out(vectors),
                   [&p, k] { p.geqrt(k); });
        for (long j = k + 1; j < n; ++j) {
            work.spawn(ranked("unmqr", 1), in(vectors), in(of_kk), inout(elements(p.a.at(k, j))),
                       [&p, k, j] { p.unmqr(k, j); });
        }
        for (long i = k + 1; i < n; ++i) {
            const auto ik = elements(p.a.at(i, k));
            const auto of_ik = elements(p.factors(i, k));
            work.spawn(ranked("tsqrt", 3), inout(kk), inout(ik), out(of_ik),
                       [&p, k, i] { p.tsqrt(k, i); });
            for (long j = k + 1; j < n; ++j) {
                work.spawn(ranked("tsmqr", j == k + 1 ? 2 : 0), in(ik), in(of_ik),
                           inout(elements(p.a.at(k, j))), inout(elements(p.a.at(i, j))),
                           [&p, k, i, j] { p.tsmqr(k, i, j); });
            }
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

}  // namespace bench::qr
