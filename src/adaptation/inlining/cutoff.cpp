// SPDX-License-Identifier: BSL-1.0
// The estimator of a cut-off, in the calls that are near it.
#include <quern/adaptation/cutoff.hpp>

#include <quern/adaptation/decisions.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/runtime.hpp>

#include <algorithm>
#include <string>

namespace quern {

namespace {

constexpr double k_growth = 2;           // alpha: how far beyond what is proven
constexpr double k_overhead_share = 50;  // a serial call takes so many times a task's overhead
constexpr double k_least_task_ns = 100;  // forks are cheaper, thefts dearer (measured)
constexpr double k_most_task_ns = 2'000;
constexpr double k_first_share = 1000;  // the first serial call is so small a part of the work
constexpr double k_pieces = 32;  // for each worker: enough for an even distribution (guessed)
constexpr double k_most_kappa_ns = 10e6;
constexpr std::uint64_t k_enough_tasks = 1'000;
constexpr std::uint32_t k_refresh = 1'024;  // measurements between two looks at the overhead

constinit std::atomic<double> g_kappa_ns{k_overhead_share * 2 * k_least_task_ns};
constinit std::atomic<double> g_workers{1};
constinit std::atomic<std::uint32_t> g_reports{0};

/// Takes 100 ns per worker, rarely.
void refresh_kappa() noexcept {
    try {
        const pool_ref pool = current_pool();
        g_workers.store(pool.active_workers(), std::memory_order_relaxed);
        const worker_totals spent = pool.totals();
        if (spent.tasks >= k_enough_tasks) {
            const double task = std::clamp(spent.managing_ns / static_cast<double>(spent.tasks),
                                           k_least_task_ns, k_most_task_ns);
            g_kappa_ns.store(k_overhead_share * task, std::memory_order_relaxed);
        }
    } catch (const std::exception&) {  // no runtime: as before
    }
}

/// Asked only for calls that would be the first of their size to run serially.
bool may_adapt() noexcept {
    try {
        return adaptation::current_mode() == adaptation::mode::on;
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace

double cutoff::least_kappa_ns() noexcept { return g_kappa_ns.load(std::memory_order_relaxed); }

detail::tick_count cutoff::enter(double cost) noexcept {
    const bool is_outermost = m_parallel.fetch_add(1, order::relaxed) == 0;
    const double factor = m_ns_per_cost.load(order::relaxed);
    if (cost > 0 && (is_outermost || cost > m_largest.load(order::relaxed))) {
        m_largest.store(cost, order::relaxed);
        set_limits(factor);
    }
    return is_outermost ? detail::ticks() : 0;
}

/// All workers' time in the call is at least its work: the factor is at most that.
void cutoff::leave(double cost, detail::tick_count begin) noexcept {
    m_parallel.fetch_sub(1, order::relaxed);
    if (begin == 0 || !(cost > 0)) {
        return;
    }
    const double ns = static_cast<double>(detail::ticks() - begin) * detail::ns_per_tick();
    if (g_reports.fetch_add(1, order::relaxed) % k_refresh == 0) {
        refresh_kappa();
    }
    const double most = ns * g_workers.load(order::relaxed) / cost;
    const double factor = m_ns_per_cost.load(order::relaxed);
    if (most > 0 && (factor == 0 || most < factor)) {
        m_ns_per_cost.store(most, order::relaxed);
        set_limits(most);
    }
}

void cutoff::set_limits(double factor) noexcept {
    if (factor <= 0) {
        return;
    }
    const double least = least_kappa_ns();
    const double piece =
        m_largest.load(order::relaxed) * factor / (k_pieces * g_workers.load(order::relaxed));
    m_least.store(least / factor, order::relaxed);
    m_inner.store(std::max(least, std::min(piece, k_most_kappa_ns)) / factor, order::relaxed);
}

bool cutoff::is_next(double cost, double proven) noexcept {
    if (!(cost > 0) || cost > limit()) {
        return false;  // also NaN
    }
    if (m_ns_per_cost.load(order::relaxed) == 0) {
        return m_parallel.load(order::relaxed) != 0 &&
               cost * k_first_share <= m_largest.load(order::relaxed) && may_adapt();
    }
    double next = m_next.load(order::relaxed);
    if (cost < next) {
        // A lost update is made up for by the next call of that cost.
        m_next.store(cost, order::relaxed);
        next = cost;
    }
    return (cost <= k_growth * proven || cost <= next) && may_adapt();
}

void cutoff::report(double cost, detail::tick_count took) noexcept {
    const double ns = static_cast<double>(took) * detail::ns_per_tick();
    if (g_reports.fetch_add(1, order::relaxed) % k_refresh == 0) {
        refresh_kappa();
    }
    // Disturbances only lengthen, so what is shorter counts for more.
    const double before = m_ns_per_cost.load(order::relaxed);
    const double now = ns / cost;
    const double weight = before == 0 ? 1 : now < before ? 0.5 : 0.1;
    const double factor = before + weight * (now - before);
    m_ns_per_cost.store(factor, order::relaxed);
    set_limits(factor);
    const double kappa = m_inner.load(order::relaxed) * factor;
    const double proven = m_proven.load(order::relaxed);
    if (ns <= kappa && cost > proven) {
        m_proven.store(cost, order::relaxed);
        m_next.store(std::numeric_limits<double>::infinity(), order::relaxed);
    }
    if (factor * k_growth * m_proven.load(order::relaxed) > kappa &&
        !m_is_logged.exchange(true, order::relaxed)) {
        try {
            adaptation::log(
                {.policy = "cutoff",
                 .subject = m_name,
                 .unit = "units of cost",
                 .before = 0,
                 .after = kappa / factor,
                 .inputs = detail::duration_words(factor * m_proven.load(order::relaxed)) +
                           " for " + detail::rounded(m_proven.load(order::relaxed)) + " units",
                 .why = "smaller calls run serially: they take less than " +
                        detail::duration_words(kappa)});
        } catch (const std::exception&) {  // no memory for a message
        }
    }
}

}  // namespace quern
