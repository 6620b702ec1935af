// SPDX-License-Identifier: BSL-1.0
// heat with a partition size that chooses itself while the program runs: a few steps with one size
// are a trial of quern::tuned. It computes from the workers' times; with --tune=<metric> it
// searches by one number instead, as Grubel's policy did (2016, section 7.3).
#pragma once

#include "steps.hpp"

#include <quern/adaptation/tuned.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heat {

inline const std::vector<std::string_view> k_tunings{"model", "idle-rate", "cumulative", "overhead",
                                                     "overall"};

/// What is to be tuned, and by what.
struct tuning_request {
    std::string by = "model";
    std::optional<std::size_t> start{};  ///< the first size; none: the middle of the range
};

/// How the search went.
struct tuning_result {
    std::size_t partition_size = 0;
    std::size_t trials = 0;
    std::size_t repeated = 0;
    std::size_t tasks = 0;
    double search_seconds = 0;  ///< in trials
    double describing = 0;
    bool converged = false;
    std::string why;
};

/// Steps of a trial. What large partitions gain or lose by caches shows between steps.
inline constexpr std::size_t k_trial_steps = 8;

inline quern::tuned_range<std::size_t> sizes_for(const problem& p, std::size_t workers) {
    const std::size_t most = std::max<std::size_t>(1, p.points / workers);
    return {std::min<std::size_t>(1'000, most), most};
}

/// What --tune=<metric> makes least; none for the model, whose cost is the wall time.
inline std::optional<quern::adaptation::metric> metric_named(std::string_view name) {
    using times = quern::adaptation::entry_times;
    const auto by = [&](auto cost) {
        return quern::adaptation::metric{.name = std::string(name), .cost = cost};
    };
    if (name == "idle-rate") {
        return by([](const times& took) {
            return 1 - took.workers.running_ns / took.workers.total_ns();
        });
    }
    if (name == "overhead") {
        return by(
            [](const times& took) { return took.workers.managing_ns / took.workers.total_ns(); });
    }
    if (name == "cumulative") {
        return by([](const times& took) { return took.workers.running_ns / took.work; });
    }
    if (name == "overall") {
        return by([](const times& took) { return took.workers.total_ns() / took.work; });
    }
    return std::nullopt;
}

/// Runs parts of the steps, each with a size of its own.
class tuned_steps {
public:
    tuned_steps(const problem& p, grids& both) : m_problem(p), m_both(both) {}

    bool more() const { return m_done < m_problem.steps; }
    std::size_t done() const { return m_done; }

    /// `count` steps, fewer at the end; returns updates.
    double run(std::size_t size, std::size_t count) {
        m_problem.partition_size = size;
        const std::size_t steps = std::min(count, m_problem.steps - m_done);
        m_describing += run_steps(m_problem, m_both, m_done, steps, m_bar);
        m_done += steps;
        m_tasks += m_problem.partitions() * steps;
        return static_cast<double>(m_problem.points) * static_cast<double>(steps);
    }

    /// Steps until the next look: many once the search is over, which sees drift then.
    std::size_t next_steps(bool converged) const {
        return converged ? 8 * k_trial_steps : k_trial_steps;
    }

    void report(tuning_result& to) const {
        to.tasks = m_tasks;
        to.describing = m_describing;
    }

private:
    problem m_problem;
    grids& m_both;
    apps::progress_bar m_bar{"heat"};
    std::size_t m_done = 0;
    std::size_t m_tasks = 0;
    double m_describing = 0;
};

/// All steps, by a task of the runtime that does the work.
inline tuning_result run_tuned(const problem& p, grids& both, const tuning_request& wanted) {
    quern::tuned_options options{.unit = "points", .minimise = metric_named(wanted.by)};
    if (options.minimise) {
        options.how = quern::adaptation::strategy::parallel_rank_order;
    }
    quern::tuned<std::size_t> size("heat.partition", sizes_for(p, quern::current_pool().workers()),
                                   wanted.start, std::move(options));
    tuned_steps steps(p, both);
    tuning_result found;
    while (steps.more()) {
        const bool converged = size.converged();
        const double seconds = apps::seconds_of([&] {
            auto now = size.enter();
            now.work(steps.run(now.value(), steps.next_steps(converged)));
        });
        found.search_seconds += converged ? 0 : seconds;
    }
    found.partition_size = size.best();
    found.trials = size.trials();
    found.repeated = size.repeated();
    found.converged = size.converged();
    found.why = size.why();
    steps.report(found);
    return found;
}

}  // namespace heat
