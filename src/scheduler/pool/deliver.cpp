// SPDX-License-Identifier: BSL-1.0
// Delivery of work to the workers of a pool, and the wake-ups for it: ready items, timers, pollers,
// and the number of active workers. Protocol: README.md in this folder, section "Parking".
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <utility>

namespace quern::detail {

/// Counts a delivering thread for its duration, so that the pool outlives that thread's last read
/// of the gate.
class pool::visit {
public:
    explicit visit(pool& p) noexcept : m_count(p.m_injecting) {
        if (p.inherited()) [[unlikely]] {  // handle from before the fork; must not throw
            p.die_inherited();
        }
        m_count.fetch_add(1, std::memory_order_relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { m_count.fetch_sub(1, std::memory_order_release); }  // pairs with ~pool

private:
    std::atomic<std::uint32_t>& m_count;
};

/// The worker whose queue gets the item, or null. If the policy does not steal, a task of normal
/// priority and without a rank resumes on the worker where it began.
worker* pool::addressee(runnable& item) noexcept {
    if (item.is_hinted()) {
        if (item.is_for_worker()) {
            return &at(static_cast<std::uint32_t>(item.home) % size());
        }
        if (m_nodes.size() > 1) {
            node& wanted = node_of(item.node());
            const std::uint32_t turn = wanted.turn.fetch_add(1, std::memory_order_relaxed);
            return wanted.workers[turn % wanted.workers.size()];
        }
    }
    if (!m_policy->steals && !item.has_place()) {
        const context* begun = context::from(item);
        return begun != nullptr ? &begun->host() : nullptr;
    }
    return nullptr;
}

void pool::inject(runnable& item) noexcept {
    tell_ready(item, m_timed.comes());
    deliver(item, addressee(item));
}

void pool::make_ready(runnable& item) noexcept {
    worker* const here = current_worker();
    if (here == nullptr || &here->home() != this) {
        make_ready_slowly(item, nullptr, m_timed.comes());
        return;
    }
    const bool is_timed = here->m_timed.comes();
    const bool is_plain = !item.is_hinted() && m_policy->steals && !is_timed &&
                          hooks.load(std::memory_order_relaxed) == nullptr;
    if (is_plain) [[likely]] {
        here->push(item);
    } else {
        make_ready_slowly(item, here, is_timed);
    }
}

/// `here`: the calling worker if it is of this pool, else null.
void pool::make_ready_slowly(runnable& item, worker* here, bool is_timed) noexcept {
    tell_ready(item, is_timed);
    worker* const to = addressee(item);
    if (to == nullptr && here != nullptr) {
        here->push(item);
    } else {
        deliver(item, to);
    }
}

void pool::make_ready(ready_batch& items) noexcept {
    worker* const current = current_worker();
    worker* const here = current != nullptr && &current->home() == this ? current : nullptr;
    ready_batch plain;
    ready_batch ranked;
    while (!items.empty()) {
        runnable& item = items.take_first();
        if (item.is_hinted() || (item.has_place() && item.rank == 0)) {
            make_ready(item);
        } else {
            tell_ready(item, (here != nullptr ? here->m_timed : m_timed).comes());
            (item.rank != 0 ? ranked : plain).add(item);
        }
    }
    if (here != nullptr) {
        here->push_ranked(ranked);
        here->push(plain);
    } else if (!plain.empty() || !ranked.empty()) {
        const visit coming(*this);
        if (!ranked.empty()) {
            note_placed();
            next_for_ranked().queues.ranked.push(ranked);
        }
        injector.push(plain);
        if (gate.load().must_wake()) {
            wake_one(0);  // a worker that finds work wakes the next one
        }
    }
}

void pool::continue_with(ready_batch& items) noexcept {
    worker* const here = current_worker();
    const auto may_be_next = [](const runnable& first) {  // unless another item precedes it
        return first.urgency == priority::normal && first.rank >= 0 && !first.is_hinted();
    };
    if (!items.empty() && here != nullptr && &here->home() == this && may_be_next(*items.first())) {
        runnable& next = items.take_first();
        tell_ready(next, here->m_timed.comes());
        here->take_next(next);
    }
    make_ready(items);
}

void pool::make_communication_ready(runnable& item) noexcept {
    if (m_communication == nullptr) {
        make_ready(item);
        return;
    }
    item.last_as({.stack = item.stack});
    item.home = runnable::k_anywhere;
    m_communication->inject(item);
}

bool pool::run_as_guest(runnable& item) noexcept {
    const visit coming(*this);
    worker* const host = take_place_of_sleeper();
    if (host == nullptr) {
        return false;
    }
    tell_ready(item, false);
    host->run_guest(item);
    return true;
}

void pool::deliver(runnable& item, worker* to) noexcept {
    const visit here(*this);
    if (item.has_place()) {
        note_placed();
    }
    if (to != nullptr) {
        item.has_place() ? to->queues.hinted.push(item) : to->queues.inbox.push(item);
        wake_for(*to);
        return;
    }
    if (item.rank != 0) {
        next_for_ranked().queues.ranked.push(item);
    } else {
        ready_queue* const shared = queue_of(item.urgency);
        (shared != nullptr ? *shared : injector).push(item);
    }
    if (gate.load().must_wake()) {
        wake_one(0);
    }
}

template <class F>
void pool::for_each_list(F call) noexcept {
    for (ready_queue* shared : {&injector, &high, &low}) {
        call(*shared);
    }
    for (const auto& w : m_workers) {
        call(w->queues.inbox);
        call(w->queues.ranked);
        call(w->queues.hinted);
    }
}

void pool::entry_left_empty() noexcept {
    constexpr std::ptrdiff_t k_step = 64;  // interval between checks of the lists (guessed)
    const auto empty = m_empty_entries.fetch_add(1, std::memory_order_relaxed) + 1;
    if (empty % k_step != 0) {
        return;
    }
    std::size_t listed = 0;
    for_each_list([&listed](const auto& list) { listed += list.size(); });
    if (2 * static_cast<std::size_t>(empty) < listed) {
        return;
    }
    for_each_list([](auto& list) {
        for (runnable* entry = list.take_empty(); entry != nullptr;) {
            current_worker()->drop(*std::exchange(entry, entry->next));
        }
    });
}

bool pool::wake_for(worker& holder) noexcept {
    return gate.wake(holder.parker) ||
           (holder.is_stealable() && gate.load().must_wake() && wake_one(holder.m_rank));
}

bool pool::has_shared_work() noexcept {
    return !injector.empty() || !high.empty() || !low.empty() ||
           std::any_of(m_workers.begin(), m_workers.end(), [](const auto& w) {
               return !w->queues.ranked.empty() || (w->is_stealable() && w->has_public_work());
           });
}

void pool::make_ready_on(worker& only, context& pinned) noexcept {
    tell_ready(pinned, m_timed.comes());
    const visit here(*this);
    only.queues.pinned.push(pinned);  // before the reads of the gate, as in every publication
    if (!gate.wake(only.parker) && only.is_throttled()) {
        wake_throttled();
    }
}

bool pool::wake_one(std::uint32_t near) noexcept {
    const std::uint32_t active = knobs.active_workers.load(std::memory_order_relaxed);
    if (near < active && gate.wake(m_workers[near]->parker)) {
        return true;
    }
    for (const auto& ring : m_workers[near]->m_victims) {
        for (worker* other : ring) {
            if (other->m_rank < active && gate.wake(other->parker)) {
                return true;
            }
        }
    }
    return false;
}

void pool::wake_all() noexcept {
    for (const auto& w : m_workers) {
        gate.wake(w->parker);
    }
    wake_throttled();
}

void pool::wake_throttled() noexcept {
    m_throttle_word.fetch_add(1, std::memory_order_seq_cst);
    std_atomics::futex_wake(m_throttle_word, static_cast<int>(size()));
}

std::uint32_t pool::set_active_workers(std::uint32_t count) noexcept {
    const std::uint32_t active = std::clamp(count, 1U, size());
    knobs.active_workers.store(active, std::memory_order_seq_cst);
    wake_all();  // sleeping workers check whether they may search now
    return active;
}

void pool::arm(poller& one, std::uint64_t operations) noexcept {
    const visit here(*this);
    if (pollers.arm(one, operations)) {
        // Both sides write first, then read, as for timers. A task that begins an operation may
        // then compute for long, so another worker has to ask the poller in that case too.
        if (worker* watch = m_watch.load(std::memory_order_seq_cst)) {
            gate.wake(watch->parker);
        } else if (gate.load().must_wake()) {
            const worker* const caller = current_worker();
            wake_one(caller != nullptr && &caller->home() == this ? caller->rank() : 0);
        }
    }
}

void pool::set_timer(timer& t, timer::clock::time_point due) noexcept {
    if (timers.set(t, due)) {
        // The worker that keeps watch sleeps until a later time. It is woken and starts its watch
        // again. (Both sides write first, then read: see worker::sleep.) Without a watch, a calling
        // worker of this pool checks the timer itself before it runs another item or sleeps. Any
        // other caller wakes a worker.
        const worker* here = current_worker();
        if (worker* watch = m_watch.load(std::memory_order_seq_cst)) {
            gate.wake(watch->parker);
        } else if (here == nullptr || &here->home() != this) {
            wake_one(0);
        }
    }
}

}  // namespace quern::detail
