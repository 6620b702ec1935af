// SPDX-License-Identifier: BSL-1.0
// Reading the statistics of workers from outside.
#include <quern/scheduler/worker_stats.hpp>

#include <thread>

namespace quern {

worker_totals& worker_totals::operator+=(const worker_totals& other) noexcept {
    running_ns += other.running_ns;
    managing_ns += other.managing_ns;
    idle_ns += other.idle_ns;
    tasks += other.tasks;
    inlined += other.inlined;
    activations += other.activations;
    suspensions += other.suspensions;
    stolen += other.stolen;
    parks += other.parks;
    wakes += other.wakes;
    contexts_recycled += other.contexts_recycled;
    contexts_made += other.contexts_made;
    looks += other.looks;
    misses += other.misses;
    return *this;
}

namespace detail {

worker_totals worker_stats::read() const noexcept {
    double times[3] = {0, 0, 0};
    constexpr auto k_acquire = std::memory_order_acquire;
    for (;;) {  // what is read between two equal even versions belongs together
        const tick_count now = ticks();
        const std::uint32_t version = m_version.load(k_acquire);
        if (version % 2 != 0) {
            std::this_thread::yield();  // the worker may have been interrupted there
            continue;
        }
        const tick_count since = m_since.load(k_acquire);
        for (int i = 0; i < 3; ++i) {
            times[i] = static_cast<double>(m_ticks[i].value(k_acquire));
        }
        const worker_phase phase = m_phase.load(k_acquire);
        if (m_version.load(std::memory_order_relaxed) == version) {
            if (since != 0 && now > since) {
                times[static_cast<int>(phase)] += static_cast<double>(now - since);
            }
            break;
        }
    }
    const double ns = ns_per_tick();
    worker_totals result;
    result.running_ns = times[static_cast<int>(worker_phase::running)] * ns;
    result.managing_ns = times[static_cast<int>(worker_phase::managing)] * ns;
    result.idle_ns = times[static_cast<int>(worker_phase::idle)] * ns;
    result.tasks = tasks.value();
    result.inlined = inlined.value();
    result.activations = activations.value();
    result.suspensions = suspensions.value();
    result.stolen = stolen.value();
    result.parks = parks.value();
    result.wakes = wakes.value();
    result.contexts_recycled = contexts_recycled.value();
    result.contexts_made = contexts_made.value();
    result.misses = misses.value();  // first: no more of them than looks
    result.looks = looks.value();
    return result;
}

}  // namespace detail
}  // namespace quern
