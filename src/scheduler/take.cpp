// SPDX-License-Identifier: BSL-1.0
// What a worker runs next: the order in which it looks into its queues and those of the pool, and
// the search at others when all of these are empty. After a search without result the worker
// sleeps (parking.cpp).
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <sched.h>
#include <algorithm>
#include <cstdint>
#include <utility>

namespace quern::detail {

namespace {

/// Items between two checks of the items that others precede by priority. An endless load of a
/// higher priority thus starves no item for ever.
constexpr std::uint32_t k_ageing_interval = 1021;

/// Of this many turns, one prefers a timed task that has become ready.
constexpr std::uint32_t k_timed_interval = 4;

/// Pause instructions between two rounds over all victims. They double per round up to the limit.
constexpr int k_first_pause = 1;
constexpr int k_last_pause = 64;

}  // namespace

work* worker::next_item() noexcept {
    if (work* first = std::exchange(m_current.load(std::memory_order_relaxed)->m_first, nullptr)) {
        return first;
    }
    if (m_guest != nullptr) [[unlikely]] {
        return nullptr;  // the guest's item has ended or waits
    }
    if (is_throttled()) {
        if (work* item = obey_throttle()) {
            return item;
        }
    }
    const bool waits_for_time = m_pool.waits_for_time();
    if (waits_for_time) {
        look_after_time(idle_part::none);
    }
    work* item = m_successor != nullptr ? take_successor() : nullptr;
    if (item == nullptr) {
        item = take_ready();
    }
    if (item == nullptr) {
        return search_and_park();
    }
    if (waits_for_time) {
        see_to_watch();
    }
    return item;
}

/// In some turns the successor yields to other items, so that a chain of successors starves none of
/// them for ever.
work* worker::take_successor() noexcept {
    runnable& item = *std::exchange(m_successor, nullptr);
    const std::uint32_t turn = m_tick + 1;
    const bool is_others = turn % k_fairness_interval == 0 || turn % k_ageing_interval == 0 ||
                           m_fired != 0 || !queues.pinned.empty() ||
                           (m_pool.has_placed() && has_before(item));
    if (is_others) {
        push(item);
        return nullptr;
    }
    m_tick = turn;
    stats.looks.add();
    return &item;
}

work* worker::take_ready() noexcept {
    stats.looks.add();
    work* const item = look_for_ready();
    if (item == nullptr) {
        stats.misses.add();
    }
    return item;
}

work* worker::look_for_ready() noexcept {
    ++m_tick;
    if (m_tick % k_ageing_interval == 0) {
        if (work* item = take_aged()) {
            return item;
        }
    }
    if (m_pool.has_placed()) [[unlikely]] {
        if (work* item = take_placed()) {
            return item;
        }
    }
    const bool pinned_first = m_tick % 2 == 0;  // alternates with all other items
    if (pinned_first) {
        if (work* item = queues.pinned.pop()) {
            return item;
        }
    }
    if (m_fired != 0 && m_tick % k_timed_interval == 1) {  // likewise: fired timers
        work* const item = m_pool.injector.pop();
        m_fired = item != nullptr ? m_fired - 1 : 0;
        if (item != nullptr) {
            return item;
        }
    }
    if (m_tick % k_fairness_interval == 0) {
        if (work* item = m_pool.injector.pop()) {
            return item;
        }
        if (work* item = queues.inbox.pop()) {
            return item;
        }
    }
    if (work* item = pop()) {
        return item;
    }
    if (work* item = take_injected()) {
        return item;
    }
    if (!pinned_first) {
        if (work* item = queues.pinned.pop()) {
            return item;
        }
    }
    work* const forked = take_forked();
    return forked == nullptr && m_pool.has_placed() ? take_above(k_above_low) : forked;
}

/// Takes a forked child of a suspended task that this worker keeps.
work* worker::take_forked() noexcept {
    m_stolen_fork = suspended.steal(m_forking_context);
    return m_stolen_fork;
}

/// Alternates between low and normal priority, whatever else is ready. Within normal priority it
/// alternates between a pinned item, the item that the policy would give last, and a forked child.
work* worker::take_aged() noexcept {
    const std::uint32_t turn = m_tick / k_ageing_interval % 6;
    if (turn % 2 == 0) {
        return m_pool.low.pop();
    }
    work* item = turn == 1 ? queues.pinned.pop() : turn == 3 ? take_oldest() : take_forked();
    if (item == nullptr) {
        item = pop();
    }
    return item != nullptr ? item : take_injected();
}

/// Takes the oldest item of this worker's own queues, as a thief would. Tasks that wake one another
/// are always the youngest and could otherwise starve it for ever.
work* worker::take_oldest() noexcept {
    if (queues.deque.public_size() == 0 && queues.deque.has_private()) {
        queues.deque.publish_half();
        notify_public_work();
    }
    for (unsigned turn = 0; turn < m_pool.policy().turns; ++turn) {
        ready_list oldest = take_kept(*this, {.turn = turn, .batch = 1});
        if (!oldest.empty()) {
            return keep_rest(oldest);
        }
    }
    return nullptr;
}

work* worker::take_injected() noexcept {
    work* item = queues.inbox.pop();
    return item != nullptr ? item : m_pool.injector.pop();
}

work* worker::search_and_park() noexcept {
    m_dry_misses = stats.misses.value();
    m_dry_activations = stats.activations.value();
    m_dry_since = ticks();
    stats.begin_idle();
    m_pool.gate.begin_search();
    for (;;) {
        if (work* item = search()) {
            stop_searching();
            if (m_pool.needs_watch()) {
                see_to_watch();
            }
            stats.end_idle();
            return item;
        }
        if (m_pool.m_stop.load(std::memory_order_acquire)) {
            m_pool.gate.end_search();
            return nullptr;
        }
        park();
        if (is_throttled()) {
            stop_searching();
            stats.end_idle();
            if (work* item = obey_throttle()) {
                return item;
            }
            stats.begin_idle();
            m_pool.gate.begin_search();
        }
    }
}

/// The wake relay. It may wake a worker in vain. With messages outstanding that would be so for
/// each message, and would delay the task that the message resumes. Then a worker is woken only if
/// there is something: public, by reads that come after the end of the search, or private here.
/// What this or another worker keeps private later, the watch sees (act_as_watch).
void worker::stop_searching() noexcept {
    const bool is_last = m_pool.gate.end_search();
    const bool always = m_pool.policy().steals && !m_pool.pollers.is_eager(ticks());
    if (is_last && (always || queues.deque.has_private() || m_pool.has_shared_work()) &&
        m_pool.wake_one(m_rank)) {
        stats.wakes.add();
    }
}

work* worker::search() noexcept {
    learn_from_theft();
    // More than half of the workers searching at once would only slow one another down.
    const bool crowded = 2 * m_pool.gate.load().searching > m_pool.size() + 1;
    const tick_count limit =
        crowded ? 0 : ticks_of_ns(1e3 * m_pool.knobs.spin_us.load(std::memory_order_relaxed));
    const tick_count start = ticks();
    tick_count now = start;
    bool is_eager = false;
    int pauses = k_first_pause;
    do {
        if (work* item = take_ready()) {
            return item;
        }
        if (work* item = steal_round()) {
            m_stole_at = ticks();
            stats.stolen.add();
            return item;
        }
        if (work* item = take_low()) {
            return item;
        }
        if (m_pool.waits_for_time()) {
            look_after_time(idle_part::searching);
        }
        is_eager = !crowded && m_pool.pollers.is_eager(now);
        if (is_eager) {
            ask_pollers(idle_part::searching);
        }
        if (is_eager || pauses == k_last_pause) {
            if (!m_pool.all_idle()) {
                ::sched_yield();
            } else if (m_yields.may_yield(now)) {
                m_yields.yield();
            } else {
                break;  // asleep, it has the processor soon after it is woken
            }
        }
        for (int i = 0; i < pauses && !is_eager; ++i) {
            std_atomics::pause();
        }
        pauses = std::min(2 * pauses, k_last_pause);
        now = ticks();
    } while (is_eager || now - start < limit);
    return nullptr;
}

void yield_budget::yield() noexcept {
    const tick_count before = ticks();
    ::sched_yield();
    spend(before, ticks());
}

}  // namespace quern::detail
