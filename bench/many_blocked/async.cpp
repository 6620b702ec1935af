// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <latch>
#include <thread>
#include <vector>

namespace bench::many_blocked {

namespace {

measurement with_threads(long size) {
    crowd tasks(size);
    std::latch missing(size);
    std::latch released(1);
    {
        std::vector<std::jthread> threads;
        try {
            for (long i = 0; i < size; ++i) {
                threads.emplace_back([&] {
                    missing.count_down();
                    released.wait();
                    tasks.one_resumed();
                });
            }
        } catch (...) {  // more threads than the system permits
            released.count_down();
            throw;
        }
        missing.wait();
        tasks.all_wait();
        released.count_down();
    }
    return tasks.result();
}

const contender latch{"many_blocked", "latch", [](const arguments& a) {
                          return threads_job(a, [size = a.size] { return with_threads(size); });
                      }};

}  // namespace

}  // namespace bench::many_blocked
