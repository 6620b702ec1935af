// SPDX-License-Identifier: BSL-1.0
// A worker that has found no work sleeps until there is some, keeps watch (watch.cpp), looks for
// hangs, and obeys the knob active-workers. The protocol that excludes sleep while there is work:
// src/scheduler/README.md, section "Parking". The code below names its steps.
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <chrono>

namespace quern::detail {

void idle_loop::park() noexcept {
    if (m_self.deque().has_private()) {
        return;  // the last search has fired a timer or asked a poller
    }
    if (m_self.thefts().leaves_hinted()) {
        if (m_yields.may_yield(ticks())) {
            m_yields.yield();
        }
        return;  // searches again: soon it may take the hinted items
    }
    const auto counts = m_pool.gate().announce_sleep(m_self.parker());  // step 1: announce
    if (m_pool.policy().steals) {
        ask_all_others();  // step 2: request private work
    }
    // step 3: check again
    if (m_self.has_pinned() || m_pool.has_shared_work() || m_self.has_public_work() ||
        m_pool.must_end(std::memory_order_seq_cst) || m_self.is_throttled()) {
        m_pool.gate().cancel_sleep(m_self.parker());
        return;
    }
    m_pool.notify_quiet(counts.sleeping);
    m_self.stats().parks.add();
    const hooks* h = m_pool.hooks();
    if (h != nullptr) {
        h->parks(*h, m_self);
    }
    m_self.stats().begin_sleep();
    sleep();  // step 4
    m_self.stats().end_sleep();
    m_self.thefts().is_dry(ticks());
    if (h != nullptr) {
        h->unparks(*h, m_self);
    }
}

/// Items that another worker pushed before the barrier are visible after it and are taken over.
/// On later pushes that worker sees this worker's request to steal. If all others sleep, they have
/// no private work and the barrier is skipped.
void idle_loop::ask_all_others() noexcept {
    const tick_count now = ticks();
    for (std::uint32_t rank = 0; rank < m_pool.size(); ++rank) {
        if (rank != m_self.rank()) {
            m_pool.at(rank).request_work(now);
        }
    }
    if (m_pool.has_barrier() && m_pool.gate().load().sleeping < m_pool.size()) {
        std_atomics::heavy_barrier();
        for (std::uint32_t rank = 0; rank < m_pool.size(); ++rank) {
            m_pool.at(rank).take_over();
        }
    }
}

void idle_loop::sleep_watching_for_hangs() noexcept {
    hang_watch watch(m_self.home());
    while (watch.is_kept()) {
        if (m_pool.gate().sleep_for(m_self.parker(), watch.pause())) {
            return;
        }
        watch.look();
    }
    m_pool.gate().sleep(m_self.parker());
}

/// Sleeps while this worker is throttled. Wakes for an item pinned to it, which is the result. Only
/// an awake worker pops the queue: an item that is in no queue is held by an awake worker, so it is
/// never overlooked.
work* idle_loop::obey_throttle() noexcept {
    m_self.publish_work();
    if (m_self.has_public_work() || m_pool.time().needs_watch()) {
        m_self.notify_public_work();  // another worker must do it now
    }
    m_self.stats().begin_throttled();
    throttled_workers& throttled = m_pool.throttled();
    throttled.enter();
    if (m_pool.hang_report().enabled && m_pool.all_asleep() && m_pool.away() != 0) {
        m_pool.wake_one(
            m_self.rank());  // it finds nothing, sleeps as the last one, and watches for hangs
    }
    for (;;) {
        const std::uint32_t seen = throttled.word();
        if (!m_self.is_throttled() || m_self.has_pinned()) {
            break;
        }
        m_pool.notify_quiet(m_pool.gate().load().sleeping);
        throttled.sleep(seen);
    }
    throttled.leave();
    m_self.stats().end_throttled();
    return m_self.is_throttled() ? m_self.pinned().pop() : nullptr;
}

}  // namespace quern::detail
