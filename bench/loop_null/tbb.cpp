// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace bench::loop_null {

namespace {

template <class Partitioner>
job loop(const arguments& a) {
    return tbb_job(a, null_problem(a.size, [](auto tasks, long n) {
                       tbb::parallel_for(
                           0L, n, [tasks](long i) { tasks[i](); }, Partitioner());
                   }));
}

const contender by_ones{"loop_null", "grain_1", loop<tbb::simple_partitioner>};
const contender by_default{"loop_null", "default", loop<tbb::auto_partitioner>};
const contender by_equal_parts{"loop_null", "static", loop<tbb::static_partitioner>};

}  // namespace

}  // namespace bench::loop_null
