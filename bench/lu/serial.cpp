// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::lu {

namespace {

const dense::with_tiles serial{k_titles, "serial", [](const arguments& a, long) -> job {
                                   return [p = std::make_shared<problem>(a.size, a.size)] {
                                       return dense::measured(*p, [&p] { p->factorise_panel(0); });
                                   };
                               }};

}  // namespace

}  // namespace bench::lu
