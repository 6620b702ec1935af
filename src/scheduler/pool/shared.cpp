// SPDX-License-Identifier: BSL-1.0
// What the workers of a pool share: who sleeps, who is woken, whether there is work for all.
// Protocol: src/scheduler/README.md, section "Parking".
#include <quern/scheduler/detail/pool_shared.hpp>

#include <algorithm>

namespace quern::detail {

pool_shared::pool_shared(pool_description& of)
    : pool_status(of),
      m_coroutines(of.workers),
      m_has_barrier(of.workers == 1 || std_atomics::has_heavy_barrier()) {
    m_knobs.active_workers.store(of.workers, std::memory_order_relaxed);
}

pool_shared::~pool_shared() = default;

void pool_shared::tell_to_end() noexcept {
    m_stop.store(true, std::memory_order_seq_cst);
    wake_all();
}

bool pool_shared::wake_for(worker_shared& holder) noexcept {
    return m_gate.wake(holder.parker()) ||
           (holder.is_stealable() && m_gate.load().must_wake() && wake_one(holder.rank()));
}

bool pool_shared::keeps_private() noexcept {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        if (at(rank).deque().has_private()) {
            return true;
        }
    }
    return false;
}

bool pool_shared::has_shared_work() noexcept {
    return !m_injector.empty() ||
           std::any_of(workers().begin(), workers().end(), [](const auto& w) {
               return !w->ranked().empty() || (w->is_stealable() && w->has_public_work());
           });
}

bool pool_shared::wake_one(std::uint32_t near) noexcept {
    const std::uint32_t active = m_knobs.active_workers.load(std::memory_order_relaxed);
    if (near < active && m_gate.wake(workers()[near]->parker())) {
        return true;
    }
    for (const auto& ring : workers()[near]->victims()) {
        for (worker_shared* other : ring) {
            if (other->rank() < active && m_gate.wake(other->parker())) {
                return true;
            }
        }
    }
    return false;
}

void pool_shared::wake_all() noexcept {
    for (const auto& w : workers()) {
        m_gate.wake(w->parker());
    }
    m_throttled.wake_all(size());
}

std::uint64_t pool_shared::coroutines_away() const noexcept {
    std::uint64_t sum = m_coroutines.left_outside();
    for (const auto& w : workers()) {
        sum += w->coroutines_away().value();
    }
    return sum;
}

std::size_t pool_shared::queued_by_policy() const noexcept {
    return m_policy_queues != nullptr ? m_policy_queues->shared_size() : 0;
}

/// Counts no worker twice while it changes between asleep and throttled.
bool pool_shared::all_asleep() const noexcept {
    const std::uint32_t throttled = m_throttled.count();
    return m_gate.load().sleeping + throttled == size() && m_throttled.count() == throttled;
}

bool pool_shared::all_idle() const noexcept {
    const auto now = m_gate.load();
    return now.searching + now.sleeping + m_throttled.count(std::memory_order_relaxed) >= size();
}

void pool_shared::notify_quiet(std::uint32_t sleeping) noexcept {
    if (m_rest.is_wanted() && sleeping + m_throttled.count() >= size()) {
        m_rest.give();
    }
}

}  // namespace quern::detail
