// SPDX-License-Identifier: BSL-1.0
// The life of a worker: take an item, run it, go on; search when there is none; sleep when the
// search is in vain. Every context runs this loop at its bottom, so a worker whose task blocks
// goes on with the loop of another context. The protocol by which nobody sleeps while there is
// work: README.md in this folder, section "Parking"; the steps are named here.
#include <quern/scheduler/held_locks.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/worker.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace quern::detail {

namespace {

/// Items between two looks at work from outside and at pollers, so that a worker that feeds itself
/// does not starve them. Prime, so that it does not fall into step with a pattern of the program.
constexpr std::uint32_t k_fairness_interval = 61;

/// Items between two looks at what stands behind others by priority, so that an endless load of a
/// higher priority starves nobody for ever.
constexpr std::uint32_t k_ageing_interval = 1021;

/// Pauses between two rounds over all victims, doubled per round up to the limit.
constexpr int k_first_pause = 1;
constexpr int k_last_pause = 64;

/// A worker that only pollers can wake looks at them this often.
constexpr auto k_poll_interval = std::chrono::microseconds(100);

}  // namespace

void worker::run_loop(context& self) noexcept {
    for (;;) {
        worker& before = self.host();
        work* item = before.next_item();
        if (item == nullptr) {
            before.leave_pool(self);
        }
        before.begin_item(*item);
        context* next = item->run(*item);
        self.task.locals.destroy_all();  // of an item that did not do so itself; may suspend
        self.next_holder();
        if constexpr (k_check_held_locks) {
            check_left_locks(self);
        }
        worker& after = self.host();  // the item may have moved this context to another worker
        if (next != nullptr && !after.sends_home(*item, *next)) {
            after.hand_over(self, *item, *next);
        }
        after.end_item();
    }
}

void worker::begin_item(work& item) noexcept {
    stats.activations.add();
    stats.enter(worker_phase::running);
    context& here = *m_current.load(std::memory_order_relaxed);
    here.trap();
    here.task = {nullptr, nullptr, item.run};  // until begin_task says more
    here.pin = nullptr;
    here.urgency = priority::normal;
    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
        h->item_begins(*h, *this, item, &item == m_loot ? m_robbed : nullptr);
    }
}

void worker::end_item() noexcept {
    stats.enter(worker_phase::managing);
    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
        h->item_ends(*h, *this);
    }
}

/// The task on `self` does not go on here for now.
void worker::give_up(context& self) noexcept {
    stats.suspensions.add();
    stats.enter(worker_phase::managing);
    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
        h->suspends(*h, *this);
    }
    if (self.lay_open_to_thieves()) {
        notify_work_of(*this);
    }
}

/// A waiter that must go on with a certain worker, because it is pinned or nothing is stolen here:
/// true when that is another one, which has it now.
bool worker::sends_home(const work& item, context& next) const noexcept {
    const bool is_waiter = next.m_first == nullptr && &static_cast<const work&>(next) != &item;
    const bool stays =
        is_waiter && !m_pool.policy().steals ? &next.host() == this : next.may_run_on(*this);
    if (!stays) {
        resume(next);
    }
    return !stays;
}

/// Three kinds of `next`: the item itself, a context that was in a queue and now goes on; a waiter
/// that the item has completed; a fresh and larger context, on which the item begins once more.
void worker::hand_over(context& self, work& item, context& next) noexcept {
    if (next.m_first != nullptr) {
        stats.activations.take_back();
    } else if (&static_cast<const work&>(next) != &item) {
        m_pool.tell_ready(next);
        end_item();
        begin_item(next);
    }
    leave_for(self, next);
}

work* worker::next_item() noexcept {
    if (work* first = std::exchange(m_current.load(std::memory_order_relaxed)->m_first, nullptr)) {
        return first;
    }
    if (is_throttled()) {
        if (work* item = obey_throttle()) {
            return item;
        }
    }
    if (m_pool.timers.any()) {
        look_after_timers();
    }
    if (m_tick % k_fairness_interval == 0 && !m_pool.pollers.empty()) {
        m_pool.pollers.poll();
    }
    work* item = take_ready();
    return item != nullptr ? item : search_and_park();
}

/// Where to go on when a task suspends: at a context that is ready, which saves a loop of its own
/// and one of two switches, else in a loop on a fresh stack. It is chosen before the task is known
/// to who will resume it, as if that were a moment later. Runs no code of users: the task may hold
/// a spin lock, which is released when its stack has been left.
context& worker::next_context() noexcept {
    const bool sees_to_others = is_throttled() || m_pool.timers.any() || !m_pool.pollers.empty();
    work* const item = sees_to_others ? nullptr : take_ready();
    context* const ready = item != nullptr ? context::from(*item) : nullptr;
    if (ready != nullptr && ready->may_run_on(*this)) {
        stats.activations.add();
        stats.enter(worker_phase::running);
        if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
            h->item_begins(*h, *this, *item, nullptr);
        }
        return *ready;
    }
    context& fresh = take_context(m_pool.stacks());
    fresh.reopen_for_loop(item);
    return fresh;
}

/// Before an item that may run long: fires what is due, and sees that somebody keeps watch.
void worker::look_after_timers() noexcept {
    if (m_pool.timers.may_be_due(stats.since())) {
        m_pool.timers.fire_due();
    }
    if (m_pool.m_watch.load(std::memory_order_relaxed) == nullptr) {
        notify_public_work();
    }
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
    if (work* item = m_pool.high.pop()) {
        return item;
    }
    const bool pinned_first = m_tick % 2 == 0;  // in turns with all others
    if (pinned_first) {
        if (work* item = queues.pinned.pop()) {
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
    if (work* item = m_pool.policy().pop(*this)) {
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
    m_loot = suspended.steal(m_robbed);
    return m_loot;
}

/// In turns an item of low priority and one of normal priority, whatever else is ready.
work* worker::take_aged() noexcept {
    const std::uint32_t turn = m_tick / k_ageing_interval % 4;
    if (turn % 2 == 0) {
        return m_pool.low.pop();
    }
    if (turn == 1) {
        if (work* item = queues.pinned.pop()) {
            return item;
        }
    }
    work* item = m_pool.policy().pop(*this);
    return item != nullptr ? item : take_injected();
}

work* worker::take_injected() noexcept {
    work* item = queues.inbox.pop();
    return item != nullptr ? item : m_pool.injector.pop();
}

work* worker::search_and_park() noexcept {
    stats.enter(worker_phase::idle);
    m_pool.gate.begin_search();
    for (;;) {
        if (work* item = search()) {
            stop_searching();
            stats.enter(worker_phase::managing);
            return item;
        }
        if (m_pool.m_stop.load(std::memory_order_acquire)) {
            m_pool.gate.end_search();
            return nullptr;
        }
        park();
        if (is_throttled()) {
            stop_searching();
            if (work* item = obey_throttle()) {
                return item;
            }
            stats.enter(worker_phase::idle);
            m_pool.gate.begin_search();
        }
    }
}

void worker::stop_searching() noexcept {
    const bool is_last = m_pool.gate.end_search();
    if (is_last && (m_pool.policy().steals || m_pool.has_shared_work()) &&
        m_pool.wake_one(m_rank)) {  // the baton
        stats.wakes.add();
    }
}

work* worker::search() noexcept {
    learn_from_theft();
    // More than half of the workers searching would only be in one another's way.
    const bool crowded = 2 * m_pool.gate.load().searching > m_pool.size() + 1;
    const tick_count limit =
        crowded ? 0 : ticks_of_ns(1e3 * m_pool.knobs.spin_us.load(std::memory_order_relaxed));
    const tick_count start = ticks();
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
        if (work* item = m_pool.low.pop()) {
            return item;
        }
        if (!m_pool.pollers.empty()) {
            m_pool.pollers.poll();
        }
        if (m_pool.timers.may_be_due(ticks())) {
            m_pool.timers.fire_due();
        }
        for (int i = 0; i < pauses; ++i) {
            std_atomics::pause();
        }
        pauses = std::min(2 * pauses, k_last_pause);
    } while (ticks() - start < limit);
    return nullptr;
}

void worker::park() noexcept {
    const auto counts = m_pool.gate.announce_sleep(bed);  // step 1: say so
    for (const auto& w : m_pool.m_workers) {              // step 2: ask for what is private
        if (w.get() != this && m_pool.policy().steals) {
            w->make_hungry();
        }
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
    sleep();  // step 4
    if (h != nullptr) {
        h->unparks(*h, *this);
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
                m_pool.timers.fire_due();
                m_pool.pollers.poll();
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

bool worker::is_throttled() const noexcept {
    return m_rank >= m_pool.knobs.active_workers.load(std::memory_order_seq_cst) &&
           !m_pool.m_stop.load(std::memory_order_seq_cst);
}

/// Sleeps while it is throttled, but wakes for what is pinned to it: that is the result. The queue
/// is popped by an awake worker only: an item that is in nobody's queue is never overlooked.
work* worker::obey_throttle() noexcept {
    if (has_public_work() || m_pool.timers.any()) {
        notify_public_work();  // somebody else has to see to it now
    }
    stats.enter(worker_phase::idle);
    m_pool.m_throttled.fetch_add(1, std::memory_order_seq_cst);
    if (m_pool.hang_report().enabled && m_pool.all_asleep() && m_pool.contexts_away() != 0) {
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
    stats.enter(worker_phase::managing);
    return is_throttled() ? queues.pinned.pop() : nullptr;
}

}  // namespace quern::detail
