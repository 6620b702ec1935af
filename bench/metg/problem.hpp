// SPDX-License-Identifier: BSL-1.0
// METG(50 %), the minimum effective task granularity of Task Bench: how short tasks may be until a
// runtime needs half of the processors' time for itself. A problem for each pattern. Size: the
// width of the graph. Value: microseconds, that is wall time * processors / tasks, overhead
// included, at the grain where half of the peak rate is reached. The peak is that of the same
// runtime on the same graph with large tasks. Each repetition does a search of its own.
#pragma once

#include "graph.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bench::metg {

/// A way to run the graph, called once for each graph: returns the function to be timed.
using prepare = std::function<std::function<void()>(graph&)>;

/// One grain of the search.
struct grain {
    long iterations = 0;
    double granularity = 0;  ///< seconds * processors / tasks
    double efficiency = 0;   ///< of the peak
};

class search {
public:
    search(pattern p, const arguments& a, const prepare& how) : m_pattern(p), m_prepare(how) {
        const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        m_width = static_cast<int>(a.size);
        m_processors = std::min({a.workers, m_width, processors});
    }

    /// Restarts when the machine has become so slow that half of the peak is out of reach.
    measurement run() {
        constexpr int k_attempts = 5;
        for (int i = 0; i < k_attempts; ++i) {
            m_result = {.value = 0, .runs = 0, .more = {}};
            find_peak();
            if (find_half()) {
                return m_result;
            }
        }
        throw std::runtime_error("half of the peak rate is not reached at any grain");
    }

private:
    static constexpr double k_wanted = 0.5;
    static constexpr long k_large = 60'000;    // iterations: 100 us, four cycles of 2.4 GHz each
    static constexpr double k_enough = 0.006;  // seconds a grain is measured, at least
    static constexpr int k_most_steps = 500;
    static constexpr int k_least_steps = 20;

    /// Several runs of the same graph: seconds of one processor for a task.
    std::vector<double> measure(int steps, long iterations) {
        graph g(m_pattern, m_width, steps, iterations);
        const auto run = m_prepare(g);
        std::vector<double> seconds;
        double total = 0;
        while (total < k_enough || seconds.size() < 3) {
            const double start = now();
            run();
            const double taken = now() - start;
            total += taken;
            seconds.push_back(taken * m_processors / g.tasks());
            g.check();
            ++m_result.runs;
        }
        return seconds;
    }

    void find_peak() {
        m_iteration = median(measure(k_least_steps, k_large)) / static_cast<double>(k_large);
        m_result.more["peak_ns_per_iteration"] = m_iteration * 1e9;
    }

    /// Searches upwards, then downwards, then between.
    bool find_half() {
        const double overhead = try_grain(0).granularity;
        grain above = try_grain(starting_grain(overhead));
        grain below = above;
        while (above.efficiency < k_wanted) {
            if (above.iterations >= k_large) {
                return false;
            }
            below = std::exchange(above, try_grain(above.iterations * 2));
        }
        while (below.efficiency >= k_wanted && below.iterations > 1) {
            above = std::exchange(below, try_grain(below.iterations / 2));
        }
        constexpr int k_halvings = 2;
        for (int i = 0; i < k_halvings && above.iterations > below.iterations + 1; ++i) {
            const grain middle = try_grain((above.iterations + below.iterations) / 2, false);
            (middle.efficiency < k_wanted ? below : above) = middle;
        }
        m_result.value = between(below, above) * 1e6;
        m_result.more["overhead_us"] = overhead * 1e6;
        return true;
    }

    /// As many steps as take at most a few times the measured time.
    int steps_for(long iterations) const {
        const double task =
            std::max(m_overhead, 1e-7) + m_iteration * static_cast<double>(iterations);
        const double steps = 2 * k_enough * m_processors / (task * m_width);
        return static_cast<int>(std::clamp<double>(steps, k_least_steps, k_most_steps));
    }

    grain try_grain(long iterations, bool tell = true) {
        const double task = median(measure(steps_for(iterations), iterations));
        const grain g{iterations, task, m_iteration * static_cast<double>(iterations) / task};
        if (iterations == 0) {
            m_overhead = g.granularity;
        } else if (tell) {
            m_result.more["efficiency_at_" + std::to_string(iterations)] = g.efficiency;
        }
        return g;
    }

    /// A power of two, so that repetitions try the same grains; its work is as long as the
    /// overhead.
    long starting_grain(double overhead) const {
        const double iterations = std::max(1.0, overhead / m_iteration);
        return 1L << static_cast<int>(std::lround(std::log2(iterations)));
    }

    static double between(const grain& below, const grain& above) {
        const double rise = above.efficiency - below.efficiency;
        const double part = rise > 0 ? (k_wanted - below.efficiency) / rise : 1;
        return below.granularity +
               std::clamp(part, 0.0, 1.0) * (above.granularity - below.granularity);
    }

    pattern m_pattern;
    const prepare& m_prepare;
    int m_width;
    int m_processors;
    double m_iteration = 0;  ///< seconds of one processor, at the peak
    double m_overhead = 0;   ///< seconds of one processor for a task without work
    measurement m_result;
};

/// Registers a way to run graphs, for every pattern. `run_inside(arguments, f)` makes the job.
template <class RunInside>
std::vector<contender> contenders(const char* variant, RunInside run_inside, const prepare& how) {
    const std::pair<const char*, pattern> all[] = {
        {"metg_trivial", pattern::trivial},       {"metg_no_comm", pattern::no_comm},
        {"metg_stencil_1d", pattern::stencil_1d}, {"metg_nearest", pattern::nearest},
        {"metg_spread", pattern::spread},         {"metg_fft", pattern::fft},
        {"metg_all_to_all", pattern::all_to_all}};
    std::vector<contender> made;
    for (const auto& [problem, p] : all) {
        made.emplace_back(problem, variant, [=](const arguments& a) -> job {
            return run_inside(a, [a, p, how] { return search(p, a, how).run(); });
        });
    }
    return made;
}

}  // namespace bench::metg
