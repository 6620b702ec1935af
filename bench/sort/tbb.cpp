// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/tbb.hpp"

#include <oneapi/tbb/parallel_sort.h>

namespace bench::sort {

namespace {

const contender group{"sort", "task_group", solved_by_tbb<problem, tbb_group>};
const contender invoke{"sort", "parallel_invoke", solved_by_tbb<problem, tbb_invoke>};

/// The library's own algorithm, a quicksort.
const contender library{"sort", "parallel_sort", [](const arguments& a) {
                            return tbb_job(a, timed_problem<problem>(a, [](problem& p) {
                                               tbb::parallel_sort(p.numbers());
                                               return true;
                                           }));
                        }};

}  // namespace

}  // namespace bench::sort
