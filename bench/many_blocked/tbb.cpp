// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <vector>

namespace bench::many_blocked {

namespace {

measurement suspended(long size) {
    crowd tasks(size);
    // One more place, the last one, for the task that waits for all others.
    std::vector<tbb::task::suspend_point> points(static_cast<std::size_t>(size) + 1);
    std::atomic<long> missing{size + 1};
    const auto wait = [&](long place) {
        tbb::task::suspend([&points, &missing, place](tbb::task::suspend_point me) {
            points[static_cast<std::size_t>(place)] = me;
            // acq_rel: pairs with that of the others, whose points the last one passes to main
            if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                tbb::task::resume(points.back());
            }
        });
    };
    tbb::task_group group;
    for (long i = 0; i < size; ++i) {
        group.run([&, i] {
            wait(i);
            tasks.one_resumed();
        });
    }
    wait(size);
    tasks.all_wait();
    points.pop_back();
    for (const auto point : points) {
        tbb::task::resume(point);
    }
    group.wait();
    return tasks.result();
}

const contender suspend{"many_blocked", "suspend", [](const arguments& a) {
                            return tbb_job(a, [size = a.size] { return suspended(size); });
                        }};

}  // namespace

}  // namespace bench::many_blocked
