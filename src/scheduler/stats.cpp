// SPDX-License-Identifier: BSL-1.0
// Reading the statistics of workers from outside.
#include <quern/scheduler/worker_stats.hpp>

namespace quern {

worker_totals& worker_totals::operator+=(const worker_totals& other) noexcept {
    running_ns += other.running_ns;
    managing_ns += other.managing_ns;
    idle_ns += other.idle_ns;
    tasks += other.tasks;
    activations += other.activations;
    suspensions += other.suspensions;
    stolen += other.stolen;
    parks += other.parks;
    wakes += other.wakes;
    contexts_recycled += other.contexts_recycled;
    contexts_made += other.contexts_made;
    return *this;
}

namespace detail {

worker_totals worker_stats::read() const noexcept {
    constexpr int k_attempts = 8;
    double times[3] = {0, 0, 0};
    for (int attempt = 0; attempt < k_attempts; ++attempt) {
        // Taken between two equal readings of `since`, phase and totals belong together.
        const tick_count since = m_since.load(std::memory_order_acquire);
        for (int i = 0; i < 3; ++i) {
            times[i] = static_cast<double>(m_ticks[i].value());
        }
        const tick_count now = ticks();
        if (since != 0 && now > since) {
            times[static_cast<int>(m_phase.load(std::memory_order_relaxed))] +=
                static_cast<double>(now - since);
        }
        if (m_since.load(std::memory_order_acquire) == since) {
            break;
        }
    }
    const double ns = ns_per_tick();
    worker_totals result;
    result.running_ns = times[static_cast<int>(worker_phase::running)] * ns;
    result.managing_ns = times[static_cast<int>(worker_phase::managing)] * ns;
    result.idle_ns = times[static_cast<int>(worker_phase::idle)] * ns;
    result.tasks = tasks.value();
    result.activations = activations.value();
    result.suspensions = suspensions.value();
    result.stolen = stolen.value();
    result.parks = parks.value();
    result.wakes = wakes.value();
    result.contexts_recycled = contexts_recycled.value();
    result.contexts_made = contexts_made.value();
    return result;
}

}  // namespace detail
}  // namespace quern
