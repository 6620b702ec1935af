// SPDX-License-Identifier: BSL-1.0
// How work reaches the workers of a pool, and who is woken for it: ready items, timers, pollers,
// and the number of workers that may take any. Protocol: README.md in this folder, section
// "Parking".
#include <quern/scheduler/pool.hpp>

#include <algorithm>
#include <utility>

namespace quern::detail {

/// Counts a thread that brings work in and out, so that the pool outlives its last look at the
/// gate.
class pool::visit {
public:
    explicit visit(pool& p) noexcept : m_count(p.m_injecting) {
        if (p.inherited()) [[unlikely]] {  // by a handle from before the fork; cannot throw here
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

worker& pool::in_turn(std::uint32_t& turn) noexcept {
    return at(turn++ % knobs.active_workers.load(std::memory_order_relaxed));
}

/// The worker to whose inbox an item goes, or null: hints are for normal priority. Where nothing is
/// stolen a task goes on where it began.
worker* pool::addressee(runnable& item) noexcept {
    if (item.urgency != priority::normal) {
        return nullptr;
    }
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
    if (!m_policy->steals) {
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

/// `here`: a worker of this pool that makes it ready, or null.
void pool::make_ready_slowly(runnable& item, worker* here, bool is_timed) noexcept {
    tell_ready(item, is_timed);
    worker* const to = addressee(item);
    if (to == nullptr && here != nullptr) {
        here->push(item);
    } else {
        deliver(item, to);
    }
}

void pool::deliver(runnable& item, worker* to) noexcept {
    const visit here(*this);
    if (to != nullptr) {
        to->queues.inbox.push(item);
        wake_for(*to);
        return;
    }
    ready_queue* const shared = queue_of(item.urgency);
    (shared != nullptr ? *shared : injector).push(item);
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
    }
}

void pool::entry_left_empty() noexcept {
    constexpr std::ptrdiff_t k_step = 64;  // so that the lists are looked at now and then (guessed)
    const auto empty = m_empty_entries.fetch_add(1, std::memory_order_relaxed) + 1;
    if (empty % k_step != 0) {
        return;
    }
    std::size_t listed = 0;
    for_each_list([&listed](const ready_queue& list) { listed += list.size(); });
    if (2 * static_cast<std::size_t>(empty) < listed) {
        return;
    }
    for_each_list([](ready_queue& list) {
        for (runnable* entry = list.take_empty(); entry != nullptr;) {
            current_worker()->drop(*std::exchange(entry, entry->next));
        }
    });
}

bool pool::wake_for(worker& holder) noexcept {
    return gate.wake(holder.bed) ||
           (holder.may_be_robbed() && gate.load().must_wake() && wake_one(holder.m_rank));
}

bool pool::has_shared_work() noexcept {
    return !injector.empty() || !high.empty() || !low.empty() ||
           std::any_of(m_workers.begin(), m_workers.end(),
                       [](const auto& w) { return w->may_be_robbed() && w->has_public_work(); });
}

void pool::make_ready_on(worker& only, context& pinned) noexcept {
    tell_ready(pinned, m_timed.comes());
    const visit here(*this);
    only.queues.pinned.push(pinned);  // before the looks at who sleeps, as in every publication
    if (!gate.wake(only.bed) && only.is_throttled()) {
        wake_throttled();
    }
}

bool pool::wake_one(std::uint32_t near) noexcept {
    const std::uint32_t active = knobs.active_workers.load(std::memory_order_relaxed);
    if (near < active && gate.wake(m_workers[near]->bed)) {
        return true;
    }
    for (const auto& ring : m_workers[near]->m_victims) {
        for (worker* other : ring) {
            if (other->m_rank < active && gate.wake(other->bed)) {
                return true;
            }
        }
    }
    return false;
}

void pool::wake_all() noexcept {
    for (const auto& w : m_workers) {
        gate.wake(w->bed);
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
    wake_all();  // those that sleep for want of work learn whether they may look for some
    return active;
}

poller_list::handle pool::add_poller(unique_function<poll_result()> function) {
    const auto handle = pollers.add(std::move(function));
    wake_one(0);  // one that sleeps now would not look before somebody else wakes it
    return handle;
}

void pool::set_timer(timer& t, timer::clock::time_point due) noexcept {
    if (timers.set(t, due)) {
        // Whoever keeps watch sleeps until a later time: it is called up, and takes up the watch
        // again. (Both sides write first and then look: see worker::sleep.) Without a watch, a
        // worker of this pool sees to it itself, before it runs another item or sleeps; a task that
        // runs on has to wake one.
        const worker* here = current_worker();
        if (worker* watch = m_watch.load(std::memory_order_seq_cst)) {
            gate.wake(watch->bed);
        } else if (here == nullptr || &here->home() != this) {
            wake_one(0);
        }
    }
}

}  // namespace quern::detail
