// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::many_blocked {

namespace {

measurement on_event(long size) {
    crowd tasks(size);
    quern::latch missing(size);
    quern::event released;
    quern::task_group group;
    for (long i = 0; i < size; ++i) {
        group.run([&] {
            missing.count_down();
            released.wait();
            tasks.one_resumed();
        });
    }
    missing.wait();
    tasks.all_wait();
    released.set();
    group.wait();
    return tasks.result();
}

const contender event{"many_blocked", "event", [](const arguments& a) {
                          return quern_job(a, [size = a.size] { return on_event(size); });
                      }};

}  // namespace

}  // namespace bench::many_blocked
