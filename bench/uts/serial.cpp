// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::uts {

namespace {

const contender recursion{"uts", "serial", [](const arguments& a) -> job {
                              return timed_problem<problem>(
                                  a, [](const problem& p) { return p.count(); });
                          }};

}  // namespace

}  // namespace bench::uts
