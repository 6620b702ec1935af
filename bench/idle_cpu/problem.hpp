// SPDX-License-Identifier: BSL-1.0
// idle_cpu: all workers have worked for some milliseconds; then the runtime exists without work
// while the main thread sleeps. Value: CPU time of the process in ms, in the first second and in
// each that follows. Size: the seconds.
#pragma once

#include "../harness/harness.hpp"
#include "../harness/work.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <sys/resource.h>

namespace bench::idle_cpu {

inline double cpu_milliseconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// Eight tasks of 1 ms for each worker; `spawn_all(tasks, one)` runs one() in that many tasks and
/// waits for them.
template <class SpawnAll>
job idle_after(const arguments& a, SpawnAll spawn_all) {
    return [tasks = 8L * a.workers, steps = steps_for(1e-3), seconds = a.size, spawn_all] {
        std::atomic<long> ended{0};
        spawn_all(tasks, [&ended, steps] {
            work(steps);
            ended.fetch_add(1, std::memory_order_relaxed);
        });
        expect_equal("the number of tasks", ended.load(std::memory_order_relaxed), tasks);
        measurement m;
        for (long second = 1; second <= seconds; ++second) {
            const double before = cpu_milliseconds();
            std::this_thread::sleep_for(std::chrono::seconds(1));
            const double taken = cpu_milliseconds() - before;
            m.value = second == 1 ? taken : m.value;
            m.more["second_" + std::to_string(second)] = taken;
        }
        return m;
    };
}

}  // namespace bench::idle_cpu
