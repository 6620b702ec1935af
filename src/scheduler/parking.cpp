// SPDX-License-Identifier: BSL-1.0
// A worker that has found no work sleeps until there is some, keeps watch (watch.cpp), looks for
// hangs, and obeys the knob active-workers. The protocol that excludes sleep while there is work:
// README.md in this folder, section "Parking". The code below names its steps.
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <chrono>

namespace quern::detail {

void worker::park() noexcept {
    if (queues.deque.has_private()) {
        return;  // the last search has fired a timer or asked a poller
    }
    if (m_leaves_hinted) {
        if (m_yields.may_yield(ticks())) {
            m_yields.yield();
        }
        return;  // searches again: soon it may take the hinted items
    }
    const auto counts = m_pool.gate.announce_sleep(parker);  // step 1: announce
    if (m_pool.policy().steals) {
        ask_all_others();  // step 2: request private work
    }
    // step 3: check again
    if (!queues.pinned.empty() || m_pool.has_shared_work() || has_public_work() ||
        m_pool.m_stop.load(std::memory_order_seq_cst) || is_throttled()) {
        m_pool.gate.cancel_sleep(parker);
        return;
    }
    m_pool.notify_quiet(counts.sleeping);
    stats.parks.add();
    const hooks* h = m_pool.hooks.load(std::memory_order_acquire);
    if (h != nullptr) {
        h->parks(*h, *this);
    }
    stats.begin_sleep();
    sleep();  // step 4
    stats.end_sleep();
    m_dry_since = ticks();
    if (h != nullptr) {
        h->unparks(*h, *this);
    }
}

/// Items that another worker pushed before the barrier are visible after it and are taken over.
/// On later pushes that worker sees this worker's request to steal. If all others sleep, they have
/// no private work and the barrier is skipped.
void worker::ask_all_others() noexcept {
    const tick_count now = ticks();
    for (const auto& w : m_pool.m_workers) {
        if (w.get() != this) {
            w->request_work(now);
        }
    }
    if (m_pool.m_has_barrier && m_pool.gate.load().sleeping < m_pool.size()) {
        std_atomics::heavy_barrier();
        for (const auto& w : m_pool.m_workers) {
            w->take_over();
        }
    }
}

void worker::sleep_watching_for_hangs() noexcept {
    hang_watch watch(m_pool);
    while (watch.is_kept()) {
        if (m_pool.gate.sleep_for(parker, watch.pause())) {
            return;
        }
        watch.look();
    }
    m_pool.gate.sleep(parker);
}

bool worker::is_throttled() const noexcept {
    return m_rank >= m_pool.knobs.active_workers.load(std::memory_order_seq_cst) &&
           !m_pool.m_stop.load(std::memory_order_seq_cst);
}

/// Sleeps while this worker is throttled. Wakes for an item pinned to it, which is the result. Only
/// an awake worker pops the queue: an item that is in no queue is held by an awake worker, so it is
/// never overlooked.
work* worker::obey_throttle() noexcept {
    publish_work();
    if (has_public_work() || m_pool.needs_watch()) {
        notify_public_work();  // another worker must do it now
    }
    stats.begin_throttled();
    m_pool.m_throttled.fetch_add(1, std::memory_order_seq_cst);
    if (m_pool.hang_report().enabled && m_pool.all_asleep() && m_pool.away() != 0) {
        m_pool.wake_one(m_rank);  // it finds nothing, sleeps as the last one, and watches for hangs
    }
    for (;;) {
        const std::uint32_t seen = m_pool.m_throttle_word.load(std::memory_order_seq_cst);
        if (!is_throttled() || !queues.pinned.empty()) {
            break;
        }
        m_pool.notify_quiet(m_pool.gate.load().sleeping);
        std_atomics::futex_wait(m_pool.m_throttle_word, seen);
    }
    m_pool.m_throttled.fetch_sub(1, std::memory_order_seq_cst);
    stats.end_throttled();
    return is_throttled() ? queues.pinned.pop() : nullptr;
}

}  // namespace quern::detail
