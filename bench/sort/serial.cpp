// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::sort {

namespace {

const contender recursion{"sort", "serial", solved_serially<problem>};

/// The standard library's, a quicksort: the usual choice without tasks.
const contender library{"sort", "std_sort", [](const arguments& a) -> job {
                            return timed_problem<problem>(a, [](problem& p) {
                                std::sort(p.numbers().begin(), p.numbers().end());
                                return true;
                            });
                        }};

}  // namespace

}  // namespace bench::sort
