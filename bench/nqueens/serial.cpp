// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::nqueens {

namespace {

const contender recursion{"nqueens", "serial", [](const arguments& a) -> job {
                              return timed_problem<problem>(
                                  a, [](const problem& p) { return count(p.empty()); });
                          }};

}  // namespace

}  // namespace bench::nqueens
