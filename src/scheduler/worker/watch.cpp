// SPDX-License-Identifier: BSL-1.0
// Timed work: workers fire timers and ask pollers between two items, and one sleeping worker, the
// watch, does so in time. Protocol: src/scheduler/README.md, sections "Time" and "Pollers".
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <chrono>

namespace quern::detail {

namespace {

/// Time between checks by the watch while another worker fires timers.
constexpr auto k_while_firing = std::chrono::microseconds(100);

}  // namespace

bool idle_loop::has_due() const noexcept {
    const tick_count now = ticks();
    return m_pool.time().timers().may_be_due(now) ||
           (m_pool.time().pollers().any() && m_pool.time().pollers().is_due(now));
}

void idle_loop::look_after_time(idle_part part) noexcept {
    if (has_due()) {
        fire_timers();
        if (m_pool.time().pollers().any() && m_pool.time().pollers().is_due(ticks())) {
            ask_pollers(part);
        }
    }
}

/// Items that a timer makes ready are in the injector.
void idle_loop::fire_timers() noexcept {
    if (m_pool.time().timers().may_be_due(ticks())) {
        m_self.selector().has_fired(m_pool.time().timers().fire_due());
    }
}

/// A function that a poller calls may suspend, if its context is pinned to the worker (callbacks of
/// MPI). Then the worker runs items meanwhile, and must not be taken for one that will search or
/// can be woken: leave_idle(). False: that has happened, and the caller is a searcher now.
bool idle_loop::ask_pollers(idle_part part) noexcept {
    m_asks_as = part;
    m_pool.time().pollers().ask();
    if (m_asks_as == part) [[likely]] {
        m_asks_as = idle_part::none;
        return true;
    }
    m_self.stats().begin_idle();
    m_pool.gate().begin_search();
    if (part == idle_part::watching) {
        m_self.stats().begin_sleep();  // as park() expects
        if (const hooks* const h = m_pool.hooks()) {
            h->parks(*h, m_self);
        }
    }
    return false;
}

/// The loop's context is about to suspend in a poller.
void idle_loop::leave_idle() noexcept {
    if (m_asks_as == idle_part::watching) {
        m_pool.time().end_watch();
        m_pool.gate().cancel_sleep(m_self.parker());
        m_self.stats().end_sleep();
        if (const hooks* const h = m_pool.hooks()) {
            h->unparks(*h, m_self);
        }
    }
    m_asks_as = idle_part::none;
    stop_searching();
    m_self.stats().end_idle();
}

/// Called before an item that may run long.
void idle_loop::see_to_watch() noexcept {
    if (m_pool.time().watch(std::memory_order_relaxed) == nullptr) {
        m_self.notify_public_work();
    }
}

/// When there are timers or outstanding operations, one sleeping worker keeps watch: it sleeps
/// until the earliest time or until the pollers are due. It counts as asleep meanwhile. Items that
/// a timer or a poller makes ready wake a sleeper as usual, possibly this one. If it is woken for
/// work, it first wakes another sleeper (see_to_watch), which finds no work and becomes the watch.
///
/// No wake-up is lost. A thread that sets an earlier time reads the watch afterwards, and the watch
/// sets it before it reads the time. A worker that finds the watch kept has announced its
/// sleep before. So a watch that leaves afterwards and finds an item sees that worker in the gate.
void idle_loop::sleep() noexcept {
    while (m_pool.time().needs_watch()) {
        if (!m_pool.time().try_begin_watch(m_self)) {
            break;
        }
        bool woken = false;
        while (!woken && m_pool.time().needs_watch()) {
            woken = m_pool.gate().sleep_for(m_self.parker(), until_next_look());
            if (!woken && !act_as_watch()) {
                return;
            }
        }
        m_pool.time().end_watch();
        if (woken) {
            return;
        }
        m_pool.notify_quiet(m_pool.gate().load().sleeping);  // the last operation may have ended
        // No watch looks any more for what others keep: steps 2 and 3 of park() again.
        if (m_pool.policy().steals) {
            ask_all_others();
        }
        if (m_pool.has_shared_work() || m_self.has_public_work()) {
            m_pool.gate().cancel_sleep(m_self.parker());
            return;
        }
    }
    sleep_watching_for_hangs();
}

/// The watch counts as asleep, and items that a poller makes ready are private at first. The
/// pollers are held until these are public, since otherwise the pool would look quiet. False: it
/// neither is the watch nor counts as asleep any more (ask_pollers).
bool idle_loop::act_as_watch() noexcept {
    m_self.selector().has_fired(m_pool.time().timers().fire_due());
    m_pool.time().pollers().hold();
    const bool is_due = m_pool.time().pollers().any() && m_pool.time().pollers().is_due(ticks());
    const bool is_watch = !is_due || ask_pollers(idle_part::watching);
    m_self.publish_work();
    if (!is_watch) {
        m_pool.time().pollers().let_go();
        return false;
    }
    if (!m_self.is_stealable() && m_self.has_public_work()) {
        m_pool.gate().wake(m_self.parker());  // only this worker may run the new items
    }
    m_pool.time().pollers().let_go();
    const tick_count now = ticks();
    const bool searches =
        m_pool.time().pollers().is_eager(now) && m_yields.may_yield(now) && m_pool.all_asleep();
    // While pollers are eager what a worker keeps may have woken none (stop_searching).
    if (searches || (m_pool.policy().steals && m_pool.keeps_private())) {
        m_pool.gate().wake(m_self.parker());  // it searches
    }
    return true;
}

std::chrono::nanoseconds idle_loop::until_next_look() const noexcept {
    constexpr std::chrono::nanoseconds k_longest = std::chrono::hours(1);
    const std::chrono::nanoseconds limit =
        m_pool.time().pollers().none()
            ? k_longest
            : m_pool.time().pollers().until_due(m_pool.gate().load().searching != 0);
    const auto now = timer::clock::now();
    const auto earliest = m_pool.time().timers().earliest();
    if (earliest == timer::clock::time_point::min()) {
        return k_while_firing;
    }
    return std::min<std::chrono::nanoseconds>(std::max(earliest, now) - now, limit);
}

}  // namespace quern::detail
