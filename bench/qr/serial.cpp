// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>
#include <vector>

namespace bench::qr {

namespace {

const dense::with_tiles serial{k_titles, "serial", [](const arguments& a, long) -> job {
                                   return [p = std::make_shared<problem>(a.size, a.size)] {
                                       std::vector<double> tau;
                                       return dense::measured(
                                           *p, [&] { blas::geqrf(p->a.at(0, 0), tau); });
                                   };
                               }};

}  // namespace

}  // namespace bench::qr
