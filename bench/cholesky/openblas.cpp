// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::cholesky {

namespace {

const dense::with_tiles potrf_of_threads{
    k_titles, "threads", [](const arguments& a, long) -> job {
        return [p = std::make_shared<problem>(a.size, a.size), n = a.workers] {
            const blas::threads divided(n);
            return dense::measured(*p, [&p] { factor_of(p->a.at(0, 0)); });
        };
    }};

}  // namespace

}  // namespace bench::cholesky
