// SPDX-License-Identifier: BSL-1.0
// Records which thread ran which task, and when. The figures about idle workers come from this, so
// that they mean the same for every runtime.
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace bench {

/// One task. It must not be suspended between the two times.
struct record {
    double start = 0;
    double end = 0;
    std::thread::id thread{};
};

template <class F>
record recorded(F f) {
    record r{now(), 0, std::this_thread::get_id()};
    f();
    r.end = now();
    return r;
}

/// The number of workers that can run at the same time.
inline int parallel_workers(int workers) {
    return std::min(workers, static_cast<int>(std::thread::hardware_concurrency()));
}

/// How long workers were idle while there were tasks not yet started: from `begin` or the end of a
/// task to the start of the next one on the same thread, or to the start of the last task.
/// `workers` that have run no task count too.
inline std::vector<double> idle_gaps(std::vector<record> tasks, double begin, int workers) {
    std::sort(tasks.begin(), tasks.end(),
              [](const record& a, const record& b) { return a.start < b.start; });
    const double none_left = tasks.back().start;
    std::vector<double> gaps;
    int threads = 0;
    while (!tasks.empty()) {
        const std::thread::id thread = tasks.front().thread;
        double free_since = begin;
        for (const record& r : tasks) {
            if (r.thread == thread) {
                gaps.push_back(r.start - free_since);
                free_since = r.end;
            }
        }
        if (free_since < none_left) {
            gaps.push_back(none_left - free_since);
        }
        std::erase_if(tasks, [thread](const record& r) { return r.thread == thread; });
        ++threads;
    }
    gaps.insert(gaps.end(), static_cast<std::size_t>(std::max(0, workers - threads)),
                none_left - begin);
    return gaps;
}

}  // namespace bench
