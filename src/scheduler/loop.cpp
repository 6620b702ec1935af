// SPDX-License-Identifier: BSL-1.0
// The life of a worker: take an item, run it, go on; search when there is none; sleep when the
// search is in vain (parking.cpp). Every context runs this loop at its bottom, so a worker whose
// task blocks goes on with the loop of another context.
#include <quern/scheduler/held_locks.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/worker.hpp>

#include <sched.h>
#include <algorithm>
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

}  // namespace

void worker::run_loop(context& self) noexcept {
    for (;;) {
        worker& before = self.host();
        before.stats.overhead.ends();
        before.stats.overhead.begins(overhead_clock::part::running);
        work* item = before.next_item();
        if (item == nullptr) {
            before.leave_pool(self);
        }
        before.begin_item(*item);
        context* next = item->run(*item);
        self.own_task.locals.destroy_all();  // of an item that did not do so itself; may suspend
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

/// Turns of the loop for items whose creator stands aside; no clock is read, and nothing counts as
/// a suspension, as long as it does. True: it still does, and is to go on.
bool worker::run_beside(context& self, runnable& first) noexcept {
    runnable* item = &first;
    do {
        self.host().begin_item(*item);
        context* const next = item->run(*item);
        self.next_holder();
        if constexpr (k_check_held_locks) {
            check_left_locks(self);
        }
        if (self.link == nullptr) [[unlikely]] {
            self.creators_aside = 0;
            worker& after = self.host();
            if (next != nullptr && !after.sends_home(*item, *next)) {
                after.hand_over(self, *item, *next);
            }
            after.end_item();
            return false;
        }
        if (self.host().home().hooks.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
            self.host().end_item();
        }
        item = self.link->more(*self.link);
    } while (item != nullptr);
    std::exchange(self.link, nullptr)->is_over = true;
    return true;
}

/// A creator that stood aside goes on.
void worker::goes_on(context& creator) noexcept {
    if (const hooks* const h = begin_running()) {
        h->item_begins(*h, *this, creator, nullptr);
    }
}

void worker::begin_item(work& item) noexcept {
    const hooks* const h = begin_running();
    note_wait(item);
    context& here = *m_current.load(std::memory_order_relaxed);
    here.trap();
    here.own_task.restart(item.run);  // until begin_task says more
    here.pin = nullptr;
    here.urgency = priority::normal;
    if (h != nullptr) {
        h->item_begins(*h, *this, item, &item == m_loot ? m_robbed : nullptr);
    }
}

/// A task begins or goes on. The clock is read for the hooks alone, which are returned.
const hooks* worker::begin_running() noexcept {
    stats.activations.add();
    stats.is_now(worker_phase::running);
    const hooks* const h = m_pool.hooks.load(std::memory_order_acquire);
    if (h != nullptr) {
        stats.look();
    }
    return h;
}

/// Forked children are not queued. What carries a time is a sample, or every item while hooks are
/// there, which want to see it themselves. A task is not made ready again, a context is.
void worker::note_wait(work& item) noexcept {
    if (!k_counters || &item == m_loot) {
        return;
    }
    auto& queued = static_cast<runnable&>(item);
    if (queued.ready.at != 0) [[unlikely]] {
        stats.waited(queued.ready.at, ticks(), queued.staged);
        if (!queued.staged && m_pool.hooks.load(std::memory_order_relaxed) == nullptr) {
            queued.ready = {};
        }
    }
}

void worker::end_item() noexcept {
    stats.is_now(worker_phase::managing);
    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
        stats.look();
        h->item_ends(*h, *this);
    }
}

/// The task on `self` does not go on here for now. Takes the time, which reports tell.
void worker::give_up(context& self) noexcept {
    stats.overhead.ends();
    stats.overhead.begins(overhead_clock::part::running);
    stats.suspensions.add();
    stats.is_now(worker_phase::managing);
    stats.look();
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
        m_pool.tell_ready(next, m_timed.comes());
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

/// Where to go on when a task suspends: at the creator that stands aside for it; at a context that
/// is ready, which saves a loop of its own and one of two switches, else in a loop on a fresh
/// stack. It is chosen before the task is known to who will resume it, as if that were a moment
/// later. Runs no code of users: the task may hold a spin lock, which is released when its stack
/// has been left.
context& worker::next_context(context& leaving) noexcept {
    if (context* const creator = take_creator(leaving)) {
        goes_on(*creator);
        return *creator;
    }
    const bool sees_to_others = is_throttled() || m_pool.timers.any() || !m_pool.pollers.empty();
    work* const item = sees_to_others ? nullptr : take_ready();
    context* const ready = item != nullptr ? context::from(*item) : nullptr;
    if (ready != nullptr && ready->may_run_on(*this)) {
        const hooks* const h = begin_running();
        note_wait(*item);
        if (h != nullptr) {
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
    if (m_pool.timers.may_be_due(ticks())) {
        fire_timers();
    }
    if (m_pool.m_watch.load(std::memory_order_relaxed) == nullptr) {
        notify_public_work();
    }
}

/// What a timer makes ready lies in the injector.
void worker::fire_timers() noexcept { m_fired += m_pool.timers.fire_due(); }

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
    if (m_fired != 0 && m_tick % 4 == 1) {  // in turns with all others, too
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
    return take_forked();
}

/// Of a suspended task that this worker keeps.
work* worker::take_forked() noexcept {
    m_loot = suspended.steal(m_robbed);
    return m_loot;
}

/// In turns an item of low priority and one of normal priority, whatever else is ready; the latter
/// in turns a pinned one, the one that the policy would give last, and a forked child.
work* worker::take_aged() noexcept {
    const std::uint32_t turn = m_tick / k_ageing_interval % 6;
    if (turn % 2 == 0) {
        return m_pool.low.pop();
    }
    work* item = turn == 1 ? queues.pinned.pop() : turn == 3 ? take_oldest() : take_forked();
    if (item == nullptr) {
        item = m_pool.policy().pop(*this);
    }
    return item != nullptr ? item : take_injected();
}

/// What stands longest in this worker's own queues, as a thief would take it: tasks that wake one
/// another are always the youngest, and may do so for ever.
work* worker::take_oldest() noexcept {
    if (queues.deque.public_size() == 0 && queues.deque.has_private()) {
        queues.deque.publish_half();
        notify_public_work();
    }
    const scheduling_policy& policy = m_pool.policy();
    for (unsigned turn = 0; turn < policy.turns; ++turn) {
        if (work* item = policy.steal(*this, *this, {.turn = turn, .batch = 1})) {
            return item;
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
    stats.begin_idle();
    m_pool.gate.begin_search();
    for (;;) {
        if (work* item = search()) {
            stop_searching();
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
            fire_timers();
        }
        if (pauses == k_last_pause) {
            ::sched_yield();
        }
        for (int i = 0; i < pauses; ++i) {
            std_atomics::pause();
        }
        pauses = std::min(2 * pauses, k_last_pause);
    } while (ticks() - start < limit);
    return nullptr;
}

bool worker::is_throttled() const noexcept {
    return m_rank >= m_pool.knobs.active_workers.load(std::memory_order_seq_cst) &&
           !m_pool.m_stop.load(std::memory_order_seq_cst);
}

}  // namespace quern::detail
