// SPDX-License-Identifier: BSL-1.0
// Reading the statistics of workers from outside.
#include <quern/scheduler/detail/worker_figures.hpp>

#include <algorithm>
#include <thread>

namespace quern {

worker_totals& worker_totals::operator+=(const worker_totals& other) noexcept {
    for (const detail::worker_figure& each : detail::k_worker_figures) {
        each.with(*this, other, [](auto& sum, auto more) { sum += more; });
    }
    return *this;
}

worker_totals& worker_totals::operator-=(const worker_totals& earlier) noexcept {
    // All of them grow: less than nothing is what rounding leaves.
    for (const detail::worker_figure& each : detail::k_worker_figures) {
        each.with(*this, earlier,
                  [](auto& now, auto before) { now = now > before ? now - before : 0; });
    }
    // Overhead is an estimate that is limited to the time there was; its parts may grow faster.
    making_ns = std::min(making_ns, managing_ns);
    asleep_ns = std::min(asleep_ns, idle_ns);
    return *this;
}

namespace detail {

/// Ticks asleep, including a sleep in progress. Never counts one twice: a sleep that ends during
/// the read is left out.
double worker_stats::asleep() const noexcept {
    constexpr auto k_acquire = std::memory_order_acquire;
    const tick_count before = m_asleep.value(k_acquire);  // pairs with end_sleep
    const tick_count since = m_asleep_since.load(k_acquire);
    const tick_count now = ticks();
    return static_cast<double>(before + (since != 0 && now > since ? now - since : 0));
}

/// Overhead grows in steps, at the end of each stretch; earlier reads counted that time as time in
/// bodies. Time once reported as running is not reduced, so the overhead appears later.
double worker_stats::never_less(double running, double busy) const noexcept {
    double told = m_told.load(std::memory_order_relaxed);
    while (told < running &&
           !m_told.compare_exchange_weak(told, running, std::memory_order_relaxed)) {
    }
    return std::min(std::max(told, running), busy);
}

tick_count worker_stats::idle_ticks(tick_count now) const noexcept {
    constexpr auto k_acquire = std::memory_order_acquire;
    for (;;) {  // as in read
        const std::uint32_t version = m_version.load(k_acquire);
        const tick_count before = m_ticks[static_cast<int>(use::idle)].value(k_acquire);
        const tick_count since = m_since.load(k_acquire);
        const bool is_idle = m_use.load(k_acquire) == use::idle;
        if (version % 2 == 0 && m_version.load(std::memory_order_relaxed) == version) {
            return before + (is_idle && now > since ? now - since : 0);
        }
        std::this_thread::yield();
    }
}

worker_totals worker_stats::read() const noexcept {
    double times[k_uses] = {};
    constexpr auto k_acquire = std::memory_order_acquire;
    for (;;) {  // values read between two equal even versions belong together
        const tick_count now = ticks();
        const std::uint32_t version = m_version.load(k_acquire);
        if (version % 2 != 0) {
            std::this_thread::yield();  // the worker may have been preempted there
            continue;
        }
        const tick_count since = m_since.load(k_acquire);
        for (int i = 0; i < k_uses; ++i) {
            times[i] = static_cast<double>(m_ticks[i].value(k_acquire));
        }
        const use present = m_use.load(k_acquire);
        if (m_version.load(std::memory_order_relaxed) == version) {
            if (since != 0 && now > since) {
                times[static_cast<int>(present)] += static_cast<double>(now - since);
            }
            break;
        }
    }
    const double ns = ns_per_tick();
    worker_totals result;
    const double busy = times[static_cast<int>(use::busy)];
    const overhead_clock::sums spent = overhead.read();  // an estimate: limited to the total
    const double running = never_less(busy - std::min(spent.all, busy), busy);
    const double managing = busy - running;
    result.running_ns = running * ns;
    result.managing_ns = (managing + times[static_cast<int>(use::starting)]) * ns;
    result.making_ns = std::min(spent.making, managing) * ns;
    result.idle_ns = times[static_cast<int>(use::idle)] * ns;
    result.asleep_ns = std::min(asleep(), times[static_cast<int>(use::idle)]) * ns;
    result.throttled_ns = times[static_cast<int>(use::throttled)] * ns;
    result.guest_ns = static_cast<double>(m_guest.value()) * ns;
    result.inlined = inlined.value();
    result.tasks = tasks.value() + result.inlined;
    result.activations = activations.value() + result.inlined;
    result.suspensions = suspensions.value();
    result.stolen = stolen.value();
    result.parks = parks.value();
    result.wakes = wakes.value();
    result.contexts_recycled = contexts_recycled.value();
    result.contexts_made = contexts_made.value();
    result.misses = misses.value();  // first: never more than looks
    result.looks = looks.value();
    result.waits = waits.value();
    result.waited_ns = static_cast<double>(m_waited.value()) * ns;
    result.first_waits = first_waits.value();
    result.first_waited_ns = static_cast<double>(m_first_waited.value()) * ns;
    result.loops = loops.value();
    result.chunks = chunks.value();
    result.scopes = scopes.value();
    result.stolen_forks = stolen_forks.value();
    return result;
}

}  // namespace detail
}  // namespace quern
