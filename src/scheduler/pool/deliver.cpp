// SPDX-License-Identifier: BSL-1.0
// Delivery of work to the workers of a pool: ready items, timers, pollers, and the number of active
// workers. The wake-ups: shared.cpp. Protocol: ../README.md, section "Parking".
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
worker_shared* pool::addressee(runnable& item) noexcept {
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
    if (!policy().steals && !item.has_place()) {
        const context* begun = context::from(item);
        return begun != nullptr ? &begun->host() : nullptr;
    }
    return nullptr;
}

/// Items with a rank or priority from outside threads go to the workers round-robin.
worker_shared& pool::next_for_ranked() noexcept {
    const std::uint32_t turn = m_ranked_turn.fetch_add(1, std::memory_order_relaxed);
    return at(turn % knobs().active_workers.load(std::memory_order_relaxed));
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
    const bool is_timed = here->is_timed_now();
    const bool is_plain = !item.is_hinted() && policy().steals && !is_timed &&
                          hooks(std::memory_order_relaxed) == nullptr;
    if (is_plain) [[likely]] {
        here->push(item);
    } else {
        make_ready_slowly(item, here, is_timed);
    }
}

/// `here`: the calling worker if it is of this pool, else null.
void pool::make_ready_slowly(runnable& item, worker* here, bool is_timed) noexcept {
    tell_ready(item, is_timed);
    worker_shared* const to = addressee(item);
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
        if (item.is_hinted()) {
            make_ready(item);
        } else {
            tell_ready(item, here != nullptr ? here->is_timed_now() : m_timed.comes());
            (item.has_place() ? ranked : plain).add(item);
        }
    }
    if (here != nullptr) {
        here->push_ranked(ranked);
        here->push(plain);
    } else if (!plain.empty() || !ranked.empty()) {
        const visit coming(*this);
        if (!ranked.empty()) {
            note_placed();
            next_for_ranked().ranked().push(ranked);
        }
        injector().push(plain);
        if (gate().load().must_wake()) {
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
        tell_ready(next, here->is_timed_now());
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

/// Skips the worker that watches the timers, which must continue. That worker becomes the watch
/// before it rests, so the check afterwards sees it.
worker* pool::take_place_of_sleeper() noexcept {
    const std::uint32_t active = knobs().active_workers.load(std::memory_order_relaxed);
    for (std::uint32_t rank = 0; rank < active && gate().load().sleeping != 0; ++rank) {
        worker& w = *workers()[rank];
        if (time().watch(std::memory_order_relaxed) == &w || !gate().take_place(w.parker())) {
            continue;
        }
        if (time().watch() != &w) {
            return &w;
        }
        w.idle().leave_to_sleeper();
    }
    return nullptr;
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

void pool::deliver(runnable& item, worker_shared* to) noexcept {
    const visit here(*this);
    if (item.has_place()) {
        note_placed();
    }
    if (to != nullptr) {
        to->mailbox().push(item);
        wake_for(*to);
        return;
    }
    if (item.has_place()) {
        next_for_ranked().ranked().push(item);
    } else {
        injector().push(item);
    }
    if (gate().load().must_wake()) {
        wake_one(0);
    }
}

template <class F>
void pool::for_each_list(F call) noexcept {
    call(injector());
    for (const auto& w : workers()) {
        call(w->mailbox());
        call(w->ranked());
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
            this_worker().drop(*std::exchange(entry, entry->next));
        }
    });
}

void pool::make_ready_on(worker_shared& only, context& pinned) noexcept {
    tell_ready(pinned, m_timed.comes());
    const visit here(*this);
    only.put_pinned(pinned);  // before the reads of the gate, as in every publication
    if (!gate().wake(only.parker()) && only.is_throttled()) {
        throttled().wake_all(size());
    }
}

std::uint32_t pool::set_active_workers(std::uint32_t count) noexcept {
    const std::uint32_t active = std::clamp(count, 1U, size());
    knobs().active_workers.store(active, std::memory_order_seq_cst);
    wake_all();  // sleeping workers check whether they may search now
    return active;
}

void pool::arm(poller& one, std::uint64_t operations) noexcept {
    const visit here(*this);
    if (time().pollers().arm(one, operations)) {
        // Both sides write first, then read, as for timers. A task that begins an operation may
        // then compute for long, so another worker has to ask the poller in that case too.
        if (worker_shared* watch = time().watch()) {
            gate().wake(watch->parker());
        } else if (gate().load().must_wake()) {
            const worker* const caller = current_worker();
            wake_one(caller != nullptr && &caller->home() == this ? caller->rank() : 0);
        }
    }
}

void pool::set_timer(timer& t, timer::clock::time_point due) noexcept {
    if (time().timers().set(t, due)) {
        // The worker that keeps watch sleeps until a later time. It is woken and starts its watch
        // again. (Both sides write first, then read: see idle_loop::sleep.) Without a watch, a
        // calling worker of this pool checks the timer itself before it runs another item or
        // sleeps. Any other caller wakes a worker.
        const worker* here = current_worker();
        if (worker_shared* watch = time().watch()) {
            gate().wake(watch->parker());
        } else if (here == nullptr || &here->home() != this) {
            wake_one(0);
        }
    }
}

}  // namespace quern::detail
