// SPDX-License-Identifier: BSL-1.0
// Wall time, medians and peak memory for the applications. Serial and parallel variants are timed
// alternately, because a shared machine changes its speed while a program runs. Compare only ratios
// within one run.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace apps {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
}

/// Seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
    const auto start = clock::now();
    f();
    return seconds_since(start);
}

/// Requires: not empty.
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Processor time of the whole process so far, in seconds. On a busy machine the wall time of a run
/// exceeds this divided by the workers, because of other programs.
inline double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Peak memory of the process so far, in GB (10^9 bytes).
inline double peak_memory_gb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;  // ru_maxrss is in KiB
}

/// One way to compute the answer, and its times.
struct variant {
    std::string name;
    std::function<double()> run;  ///< checks its answer; returns seconds
    std::vector<double> seconds{};
    std::vector<double> processor{};  ///< processor time of all threads, in seconds

    double middle() const { return median(seconds); }
    double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

/// Runs all variants alternately, `repeat` times, after one uncounted round.
inline void run_in_turns(std::vector<variant>& variants, int repeat) {
    for (int round = 0; round <= repeat; ++round) {
        for (variant& v : variants) {
            const double before = processor_seconds();
            const double taken = v.run();
            if (round > 0) {
                v.seconds.push_back(taken);
                v.processor.push_back(processor_seconds() - before);
            }
        }
    }
}

}  // namespace apps
