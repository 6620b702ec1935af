// SPDX-License-Identifier: BSL-1.0
// accounting: checks whether the counters show where the time is spent. Each construct makes tasks
// of a known size, from 10 ns to 100 us. A repetition times such tasks, and beside them
//   - the same bodies without a runtime: the time in bodies, without counters;
//   - how much longer a batch of the tasks takes than these bodies (beside_ns; imprecise for large
// ones);
//   - tasks of several small sizes: the intercept of time over size is a task's cost besides
//     its body, again without counters.
// Size: the length of a body in ns. The value is wall time x workers for a task, ns.
#pragma once

#include "../harness/harness.hpp"
#include "../harness/work.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::accounting {

/// The processor executes no later instruction before all earlier ones are done. Without that it
/// overlaps the end of one body, the runtime's work and the begin of the next body, and the parts
/// of the time have no sum.
inline void finish_all_before() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

/// A batch of tasks; each adds its result to a place of its own.
class batch {
public:
    static constexpr long k_tasks = 1024;

    void begin(long steps) {
        m_steps = steps;
        m_rounds = 0;
        std::fill(m_answers.begin(), m_answers.end(), 0);
    }
    long tasks() const noexcept { return k_tasks; }
    [[gnu::noinline]] void body(long i) noexcept {
        finish_all_before();
        m_answers[i] += work(m_steps);
        finish_all_before();
    }
    void ended() noexcept { ++m_rounds; }

    void check() const {
        const std::uint64_t expected = m_rounds * work(m_steps);
        for (const std::uint64_t found : m_answers) {
            expect_equal("sum of answers", found, expected);
        }
    }

private:
    long m_steps = 0;
    std::uint64_t m_rounds = 0;
    std::array<std::uint64_t, k_tasks> m_answers{};
};

/// The values of a worker's counters, ns.
struct parts {
    double body = 0;
    double overhead = 0;
    double starvation = 0;
};

/// Nanoseconds for a task of `steps` steps: the median of batches that take so long together.
/// Batches in which the thread lost its processor do not count.
template <class Run, class Time>
double ns_of(batch& all, long steps, double enough, Run run, Time time) {
    std::vector<double> each;
    all.begin(steps);
    const double begun = now();
    do {
        const double start = time();
        run(all);
        each.push_back((time() - start) / static_cast<double>(all.tasks()));
        all.ended();
    } while (now() - begun < enough || each.size() < 3);
    all.check();
    return median(each);
}

/// The value at x = 0 of the line through the points (x, y).
inline double intercept(const std::vector<std::pair<double, double>>& points) {
    double x = 0;
    double y = 0;
    for (const auto& p : points) {
        x += p.first / static_cast<double>(points.size());
        y += p.second / static_cast<double>(points.size());
    }
    double xy = 0;
    double xx = 0;
    for (const auto& p : points) {
        xy += (p.first - x) * (p.second - y);
        xx += (p.first - x) * (p.first - x);
    }
    return y - xy / xx * x;
}

/// A repetition. Called in a task; `totals` returns the parts so far.
template <class Run, class Totals>
measurement measure(batch& all, const arguments& a, Run run, Totals totals) {
    constexpr double k_enough = 0.03;  // seconds
    constexpr double k_little = 0.003;
    const auto serially = [](batch& b) {
        for (long i = 0; i < b.tasks(); ++i) {
            b.body(i);
        }
    };
    const double workers = a.workers;
    const auto on_the_wall = [] { return 1e9 * now(); };
    const auto busy = [&] { return 1e9 * now() * workers - totals().starvation; };
    std::vector<std::pair<double, double>> points;
    for (const double ns : {10.0, 20.0, 40.0, 70.0, 100.0, 140.0, 200.0}) {
        const long steps = steps_for(ns * 1e-9);
        const double alone = ns_of(all, steps, k_little, serially, on_the_wall);
        points.emplace_back(alone, ns_of(all, steps, k_little, run, busy));
    }
    const long steps = steps_for(static_cast<double>(a.size) * 1e-9);
    const double alone = ns_of(all, steps, k_enough / 3, serially, on_the_wall);
    const double beside = ns_of(all, steps, k_enough / 3, run, busy) - alone;
    all.begin(steps);
    const parts before = totals();
    const double start = now();
    long tasks = 0;
    double wall = 0;
    do {
        run(all);
        all.ended();
        tasks += all.tasks();
        wall = 1e9 * (now() - start);
    } while (wall < 1e9 * k_enough);
    const parts after = totals();
    all.check();
    const double n = static_cast<double>(tasks);
    const double body = after.body - before.body;
    const double overhead = after.overhead - before.overhead;
    const double starvation = after.starvation - before.starvation;
    const double expected = intercept(points);
    return {wall * workers / n,
            1,
            {{"sum_percent", 100 * (body + overhead + starvation) / (wall * workers)},
             {"body_percent", 100 * body / (n * alone)},
             {"body_ns", body / n},
             {"alone_ns", alone},
             {"overhead_ns", overhead / n},
             {"intercept_ns", expected},
             {"beside_ns", beside},
             {"overhead_percent", 100 * overhead / n / expected},
             {"starvation_ns", starvation / n}}};
}

}  // namespace bench::accounting
