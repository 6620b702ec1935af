// SPDX-License-Identifier: BSL-1.0
// Reading the statistics of workers from outside.
#include <quern/scheduler/worker_stats.hpp>

#include <algorithm>
#include <thread>

namespace quern {

namespace {

/// f of each figure of both.
template <class F>
void with_each(worker_totals& a, const worker_totals& b, F&& f) {
    f(a.running_ns, b.running_ns);
    f(a.managing_ns, b.managing_ns);
    f(a.making_ns, b.making_ns);
    f(a.idle_ns, b.idle_ns);
    f(a.asleep_ns, b.asleep_ns);
    f(a.tasks, b.tasks);
    f(a.inlined, b.inlined);
    f(a.activations, b.activations);
    f(a.suspensions, b.suspensions);
    f(a.stolen, b.stolen);
    f(a.parks, b.parks);
    f(a.wakes, b.wakes);
    f(a.contexts_recycled, b.contexts_recycled);
    f(a.contexts_made, b.contexts_made);
    f(a.looks, b.looks);
    f(a.misses, b.misses);
    f(a.waits, b.waits);
    f(a.waited_ns, b.waited_ns);
    f(a.first_waits, b.first_waits);
    f(a.first_waited_ns, b.first_waited_ns);
}

}  // namespace

worker_totals& worker_totals::operator+=(const worker_totals& other) noexcept {
    with_each(*this, other, [](auto& sum, auto more) { sum += more; });
    return *this;
}

worker_totals& worker_totals::operator-=(const worker_totals& earlier) noexcept {
    // All of them grow: less than nothing is what rounding leaves.
    with_each(*this, earlier,
              [](auto& now, auto before) { now = now > before ? now - before : 0; });
    return *this;
}

namespace detail {

/// Ticks, with the sleep that goes on. Never counts one twice: what ends meanwhile is left out.
double worker_stats::asleep() const noexcept {
    constexpr auto k_acquire = std::memory_order_acquire;
    const tick_count before = m_asleep.value(k_acquire);  // pairs with end_sleep
    const tick_count since = m_asleep_since.load(k_acquire);
    const tick_count now = ticks();
    return static_cast<double>(before + (since != 0 && now > since ? now - since : 0));
}

/// Overhead grows in steps, when a stretch has ended, and what was read before was time in bodies:
/// that is not taken back, and the overhead grows later.
double worker_stats::never_less(double running, double busy) const noexcept {
    double told = m_told.load(std::memory_order_relaxed);
    while (told < running &&
           !m_told.compare_exchange_weak(told, running, std::memory_order_relaxed)) {
    }
    return std::min(std::max(told, running), busy);
}

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
    const overhead_clock::sums spent = overhead.read();  // an estimate: never more than all
    const double running = never_less(busy - std::min(spent.all, busy), busy);
    const double managing = busy - running;
    result.running_ns = running * ns;
    result.managing_ns = (managing + times[static_cast<int>(use::starting)]) * ns;
    result.making_ns = std::min(spent.making, managing) * ns;
    result.idle_ns = times[static_cast<int>(use::idle)] * ns;
    result.asleep_ns = std::min(asleep(), times[static_cast<int>(use::idle)]) * ns;
    result.inlined = inlined.value();
    result.tasks = tasks.value() + result.inlined;
    result.activations = activations.value() + result.inlined;
    result.suspensions = suspensions.value();
    result.stolen = stolen.value();
    result.parks = parks.value();
    result.wakes = wakes.value();
    result.contexts_recycled = contexts_recycled.value();
    result.contexts_made = contexts_made.value();
    result.misses = misses.value();  // first: no more of them than looks
    result.looks = looks.value();
    result.waits = waits.value();
    result.waited_ns = static_cast<double>(m_waited.value()) * ns;
    result.first_waits = first_waits.value();
    result.first_waited_ns = static_cast<double>(m_first_waited.value()) * ns;
    return result;
}

}  // namespace detail
}  // namespace quern
