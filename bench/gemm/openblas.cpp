// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::gemm {

namespace {

const dense::with_tiles gemm_of_threads{
    k_titles, "threads", [](const arguments& a, long) -> job {
        return [p = std::make_shared<problem>(a.size, a.size), n = a.workers] {
            const blas::threads divided(n);
            return dense::measured(*p, [&p] { p->multiply(0, 0); });
        };
    }};

}  // namespace

}  // namespace bench::gemm
