// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

#include <new>

namespace bench::start_stop {

namespace {

long life(int workers) {
    tbb::task_scheduler_handle all{tbb::attach{}};
    long answer = 0;
    {
        tbb_runtime rt(workers);
        rt.arena.execute([&answer] {
            tbb::task_group group;
            group.run([&answer] { answer = k_answer; });
            group.wait();
        });
    }
    tbb::finalize(all);  // throws if threads are left
    return answer;
}

const contender finalized{"start_stop", "finalize", [](const arguments& a) {
                              return lives([workers = a.workers] { return life(workers); });
                          }};

}  // namespace

}  // namespace bench::start_stop
