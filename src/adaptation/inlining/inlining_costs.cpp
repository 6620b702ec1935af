// SPDX-License-Identifier: BSL-1.0
// Costs of tasks: from the workers' own statistics, and from a measurement of empty items.
#include "inlining/inlining_costs.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <atomic>

namespace quern::adaptation::detail {

namespace {

using quern::detail::pool;
using quern::detail::tick_count;

constexpr double k_usual_task_ns = 40;   ///< before any was measured
constexpr double k_usual_aside_ns = 60;  ///< of a change of stacks; where it cannot be measured
/// What an inlined child takes besides its making and the change of stacks: the decision, settling
/// a future that other threads may see, and releasing it. (measured: a loop of empty children takes
/// 82 ns each, of which these two are 40; docs/design/0026-inlining.md)
constexpr double k_settling_ns = 45;
constexpr std::uint64_t k_enough_tasks = 1'000;

/// What the tasks of a pool cost, over the last thousand or more of them.
struct task_costs {
    quern::detail::spin_lock lock{};
    const pool* of = nullptr;
    worker_totals before{};
    std::atomic<double> task_ns{k_usual_task_ns};
    std::atomic<double> making_ns{k_usual_task_ns / 2};
};
constinit task_costs g_costs{};

/// Disturbances only lengthen: a value falls at once and rises slowly.
void take_in(std::atomic<double>& value, double now) noexcept {
    constexpr double k_rise = 1.1;
    value.store(std::min(now, k_rise * value.load(std::memory_order_relaxed)),
                std::memory_order_relaxed);
}

/// Takes some 100 ns for each worker.
void refresh_costs(const pool& home) noexcept {
    if (!g_costs.lock.try_lock()) {
        return;
    }
    const worker_totals now = home.totals();
    if (g_costs.of != &home || now.tasks < g_costs.before.tasks) {
        g_costs.of = &home;
        g_costs.before = now;
    } else if (now.tasks - g_costs.before.tasks >= k_enough_tasks) {
        worker_totals since = now;
        since -= g_costs.before;
        const auto tasks = static_cast<double>(since.tasks);
        take_in(g_costs.task_ns, since.managing_ns / tasks);
        take_in(g_costs.making_ns, since.making_ns / tasks);
        g_costs.before = now;
    }
    g_costs.lock.unlock();
}

/// Runs empty items beside the calling task: what a change of stacks takes, with all counting.
double measure_stepping_aside() noexcept {
    constexpr int k_runs = 32;
    constexpr int k_attempts = 3;
    struct empty_item final : quern::detail::runnable {
        empty_item() noexcept
            : runnable([](quern::detail::work&) -> quern::detail::context* { return nullptr; }) {}
    };
    tick_count least = ~tick_count{0};
    for (int i = 0; i < k_attempts; ++i) {
        const tick_count begun = quern::detail::ticks();
        for (int k = 0; k < k_runs; ++k) {
            empty_item item;
            quern::detail::creator_link link;
            link.more = [](quern::detail::creator_link&) noexcept -> quern::detail::runnable* {
                return nullptr;
            };
            quern::detail::run_beside_self(item, link);
        }
        least = std::min(least, quern::detail::ticks() - begun);
    }
    return static_cast<double>(least) / k_runs * quern::detail::ns_per_tick();
}

/// Once in the process, in some 5 us; not while hooks see every item.
double stepping_aside_ns(const pool& home) noexcept {
    static constinit std::atomic<double> known{0};
    double value = known.load(std::memory_order_relaxed);
    if (value == 0) {
        if (home.hooks() != nullptr) {
            return k_usual_aside_ns;
        }
        value = std::max(measure_stepping_aside(), 1.0);
        known.store(value, std::memory_order_relaxed);
    }
    return value;
}

}  // namespace

quern_rule::costs present_costs(const pool& home) noexcept {
    refresh_costs(home);
    return {g_costs.task_ns.load(std::memory_order_relaxed),
            g_costs.making_ns.load(std::memory_order_relaxed) + stepping_aside_ns(home) +
                k_settling_ns};
}

}  // namespace quern::adaptation::detail
