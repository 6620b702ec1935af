// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

namespace bench::idle_cpu {

namespace {

const contender group{
    "idle_cpu", "task_group", [](const arguments& a) {
        return idle_after(a, [rt = std::make_shared<tbb_runtime>(a.workers)](long tasks, auto one) {
            rt->arena.execute([tasks, &one] {
                tbb::task_group all;
                for (long i = 0; i < tasks; ++i) {
                    all.run(one);
                }
                all.wait();
            });
        });
    }};

}  // namespace

}  // namespace bench::idle_cpu
