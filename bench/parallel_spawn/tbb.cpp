// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

namespace bench::parallel_spawn {

namespace {

void in_group(auto tasks, long n) {
    tbb::task_group group;
    tbb::parallel_for(0L, n, [tasks, &group](long i) {
        tasks.spawn(i, [&group](auto task) { group.run(task); });
    });
    group.wait();
}

const contender group{"parallel_spawn", "task_group", [](const arguments& a) {
                          return tbb_job(
                              a, null_problem(a.size, [](auto t, long n) { in_group(t, n); }));
                      }};

}  // namespace

}  // namespace bench::parallel_spawn
