// SPDX-License-Identifier: BSL-1.0
// The standard library has no number of workers: std::async makes a thread for each task. So its
// processes are bound to as many CPUs as workers were requested.
#pragma once

#include "harness.hpp"

#include <utility>

#include <sched.h>

namespace bench {

/// Binds the calling thread, and the threads that it makes from now on, to the first `count` CPUs.
inline void keep_cpus(int count) {
    cpu_set_t all;
    cpu_set_t some;
    CPU_ZERO(&some);
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < count; ++cpu) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &some);
        }
    }
    sched_setaffinity(0, sizeof some, &some);
}

/// A job whose repetitions run f() on the main thread, while the process has `workers` CPUs.
template <class F>
job threads_job(const arguments& a, F f) {
    keep_cpus(a.workers);
    return [f = std::move(f)] { return f(); };
}

}  // namespace bench
