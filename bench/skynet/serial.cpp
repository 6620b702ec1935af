// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::skynet {

namespace {

const contender recursion{"skynet", "serial", [](const arguments& a) -> job {
                              return timed_problem<problem>(
                                  a, [](const problem& p) { return sum(0, p.leaves()); });
                          }};

}  // namespace

}  // namespace bench::skynet
