// SPDX-License-Identifier: BSL-1.0
// The parts are scaled so that they add up to the wall time: shares of it, in seconds.
#include "tuning/meter.hpp"

#include <algorithm>

namespace quern::adaptation::detail {

namespace {

constexpr double k_most_lost = 0.95;  // of the time of a trial; the rest is divided by it

}  // namespace

meter::meter(pool_ref of, std::optional<trace::detail::lost_time_parts> sees)
    : m_pool(of), m_active(of.active_workers()) {
    if (sees) {
        m_losses.emplace(of, *sees);
    }
    m_before = active_totals();
    m_begin = clock::now();
}

worker_totals meter::active_totals() const {
    worker_totals sum;
    for (unsigned rank = 0; rank < m_active; ++rank) {
        sum += m_pool.worker(rank);
    }
    return sum;
}

meter::reading meter::read(double work) const {
    const double seconds = std::chrono::duration<double>(clock::now() - m_begin).count();
    worker_totals spent = active_totals();
    spent -= m_before;
    const double all = spent.total_ns();
    reading found;
    found.took = {.seconds = seconds, .work = work, .workers = spent};
    found.result.cost = seconds / work;
    if (all > 0) {
        const double scale = seconds / work / all;
        found.result.running = spent.running_ns * scale;
        found.result.overhead = spent.managing_ns * scale;
        found.result.idle = spent.idle_ns * scale;
    }
    if (m_losses && seconds > 0) {
        constexpr double k_ns = 1e9;
        // While some workers sleep, what the others lose makes the whole longer.
        const trace::detail::lost_time lost = m_losses->read();
        const double certain = lost.awake_ns > 0 ? lost.certain_ns / lost.awake_ns : 0;
        found.result.lost =
            std::min(k_most_lost, std::max(lost.ns / (seconds * k_ns * m_active), certain));
        found.result.lost_error = std::max(found.result.lost - certain, 0.0);
    }
    return found;
}

}  // namespace quern::adaptation::detail
