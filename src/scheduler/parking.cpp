// SPDX-License-Identifier: BSL-1.0
// What a worker does that has found nothing: sleeps until there is work, keeps watch over timers,
// pollers and hangs if nobody else does, and obeys the knob active_workers. The protocol by which
// nobody sleeps while there is work: README.md in this folder, section "Parking"; the steps are
// named here.
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/worker.hpp>

#include <algorithm>
#include <chrono>

namespace quern::detail {

namespace {

/// A worker that only pollers can wake looks at them this often.
constexpr auto k_poll_interval = std::chrono::microseconds(100);

}  // namespace

void worker::park() noexcept {
    if (queues.deque.has_private()) {
        return;  // the last look has fired a timer or asked a poller
    }
    const auto counts = m_pool.gate.announce_sleep(bed);  // step 1: say so
    if (m_pool.policy().steals) {
        ask_all_others();  // step 2: ask for what is private
    }
    // step 3: look once more
    if (!queues.pinned.empty() || m_pool.has_shared_work() || has_public_work() ||
        m_pool.m_stop.load(std::memory_order_seq_cst)) {
        m_pool.gate.cancel_sleep(bed);
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
    if (h != nullptr) {
        h->unparks(*h, *this);
    }
}

/// What another worker has pushed before the barrier is seen after it, and taken over; what it
/// pushes later it pushes knowing that this one is hungry. When all others sleep there is nothing.
void worker::ask_all_others() noexcept {
    const tick_count now = ticks();
    for (const auto& w : m_pool.m_workers) {
        if (w.get() != this) {
            w->make_hungry(now);
        }
    }
    if (m_pool.m_has_barrier && m_pool.gate.load().sleeping < m_pool.size()) {
        std_atomics::heavy_barrier();
        for (const auto& w : m_pool.m_workers) {
            w->take_over();
        }
    }
}

/// One of those asleep keeps watch when there are timers or pollers: it sleeps until the earliest
/// time, or looks at the pollers now and then. It counts as asleep meanwhile; what a timer or a
/// poller makes ready wakes a sleeper as usual, perhaps this one. Called up for work, the watch
/// wakes another, who searches in vain and takes its place.
/// Nobody is missed: one who sets an earlier time looks afterwards at who keeps watch, and the
/// watch says so before it looks at the time. One who finds the watch kept has announced its sleep
/// before, so that the one who leaves it afterwards sees it in the gate.
void worker::sleep() noexcept {
    const auto needed = [this] { return !m_pool.pollers.empty() || !m_pool.timers.empty(); };
    while (needed()) {
        worker* nobody = nullptr;
        if (!m_pool.m_watch.compare_exchange_strong(nobody, this, std::memory_order_seq_cst)) {
            break;
        }
        bool woken = false;
        while (!woken && needed()) {
            woken = m_pool.gate.sleep_for(bed, until_next_look());
            if (!woken) {
                fire_timers();
                m_pool.pollers.poll();
                lay_open();
                if (!may_be_robbed() && has_public_work()) {
                    m_pool.gate.wake(bed);  // what they have made ready is for this one alone
                }
            }
        }
        m_pool.m_watch.exchange(nullptr, std::memory_order_seq_cst);
        if (woken) {
            if (needed() && m_pool.gate.load().sleeping != 0) {
                m_pool.wake_one(m_rank);
            }
            return;
        }
    }
    sleep_watching_for_hangs();
}

void worker::sleep_watching_for_hangs() noexcept {
    hang_watch watch(m_pool);
    while (watch.is_kept()) {
        if (m_pool.gate.sleep_for(bed, watch.pause())) {
            return;
        }
        watch.look();
    }
    m_pool.gate.sleep(bed);
}

std::chrono::nanoseconds worker::until_next_look() const noexcept {
    constexpr std::chrono::nanoseconds k_longest = std::chrono::hours(1);
    const std::chrono::nanoseconds limit = m_pool.pollers.empty() ? k_longest : k_poll_interval;
    const auto now = timer::clock::now();
    const auto earliest = m_pool.timers.earliest();
    if (earliest == timer::clock::time_point::min()) {
        return k_poll_interval;  // another worker is firing what is due
    }
    return std::min<std::chrono::nanoseconds>(std::max(earliest, now) - now, limit);
}

/// Sleeps while it is throttled, but wakes for what is pinned to it: that is the result. The queue
/// is popped by an awake worker only: an item that is in nobody's queue is never overlooked.
work* worker::obey_throttle() noexcept {
    lay_open();
    if (has_public_work() || m_pool.timers.any()) {
        notify_public_work();  // somebody else has to see to it now
    }
    stats.begin_idle();
    stats.begin_sleep();
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
    stats.end_sleep();
    stats.end_idle();
    return is_throttled() ? queues.pinned.pop() : nullptr;
}

}  // namespace quern::detail
