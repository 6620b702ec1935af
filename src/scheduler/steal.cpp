// SPDX-License-Identifier: BSL-1.0
// What a worker that searches takes from others, and from whom first. Called by the search in
// loop.cpp alone; which items a victim gives is the policy's business (policies.cpp).
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/worker.hpp>

#include <algorithm>
#include <utility>

namespace quern::detail {

namespace {

/// A thief asks the same victims at most this often, longer when what it got was tiny.
constexpr double k_hunger_ns = 5'000;
constexpr double k_hunger_limit_ns = 200'000;
constexpr double k_tiny_ns = 1'000;

/// A victim that has not answered for so long runs something that does not look at what it keeps:
/// worth interrupting it (1 to 2 us on two processors).
constexpr double k_patience_ns = 10'000;

/// Ready items that a thief takes at once when those before were tiny: with more there is little to
/// gain (docs/design/0010-memory-of-tasks.md has figures).
constexpr std::uint32_t k_largest_appetite = 32;

}  // namespace

/// What was stolen last has been run: less hunger for a while when it was tiny, and more at once.
void worker::learn_from_theft() noexcept {
    if (m_stole_at != 0) {
        const double limit = k_tiny_ns * std::max(m_haul, 1U);
        const bool tiny = ticks() - m_stole_at < ticks_of_ns(limit);
        m_hunger_interval = tiny ? std::min(2 * m_hunger_interval, ticks_of_ns(k_hunger_limit_ns))
                                 : ticks_of_ns(k_hunger_ns);
        m_appetite = tiny && m_haul != 0 ? std::min(2 * m_appetite, k_largest_appetite) : 1;
        m_stole_at = 0;
    }
}

bool worker::may_be_hungry(tick_count now) noexcept {
    if (now - m_last_hunger < m_hunger_interval) {
        return false;
    }
    m_last_hunger = now;
    return true;
}

bool worker::is_silent(tick_count now) const noexcept {
    if (!m_pool.m_has_barrier) {
        return false;
    }
    const tick_count patience = ticks_of_ns(k_patience_ns);
    const context* const running = m_current.load(std::memory_order_acquire);  // pairs with adopt
    return queues.deque.is_silent(now, patience) ||
           (running != nullptr && running->is_silent(now, patience));
}

/// The own NUMA node's workers first, then the others'.
work* worker::steal_round() noexcept {
    const tick_count now = ticks();
    const bool hungry = m_pool.policy().steals && may_be_hungry(now);
    const std::span<const ring> rings(m_victims);
    work* const item = steal_from(rings.first(m_rings_of_node), hungry, now);
    return item != nullptr ? item : steal_from(rings.subspan(m_rings_of_node), hungry, now);
}

work* worker::steal_from(std::span<const ring> rings, bool hungry, tick_count now) noexcept {
    for (unsigned turn = 0; turn < m_pool.policy().turns; ++turn) {
        for (const ring& victims : rings) {
            const auto count = static_cast<std::uint32_t>(victims.size());
            const std::uint32_t start = m_random.below(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                worker& victim = *victims[(start + i) % count];
                if (work* item = rob(victim, turn)) {
                    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
                        h->steals(*h, *this, victim);
                    }
                    return item;
                }
                if (hungry && turn == 0) {
                    victim.make_hungry(now);
                }
                if (turn == 0 && victim.is_silent(now) && victim.take_over()) {
                    --i;  // look there again
                }
            }
        }
    }
    return nullptr;
}

/// Fork entries in the first turn, what was hinted to the victim in the last.
work* worker::rob(worker& victim, unsigned turn) noexcept {
    if (!victim.may_be_robbed()) {
        return nullptr;
    }
    if (turn == 0) {
        if (fork_entry* const entry = victim.steal_fork(m_robbed)) {
            m_loot = entry;
            m_haul = 0;
            return entry;
        }
    }
    const scheduling_policy& policy = m_pool.policy();
    const std::size_t batch = m_pool.knobs.steal_batch.load(std::memory_order_relaxed);
    if (runnable* loot = policy.steal(victim, *this, {turn, batch, m_appetite})) {
        return keep_rest(*loot);
    }
    m_haul = 1;
    return turn + 1 == policy.turns ? victim.queues.inbox.pop() : nullptr;
}

/// All but the first go to the own queues. Nobody is told: the caller is searching, and wakes
/// another when it stops and is the last.
work* worker::keep_rest(runnable& loot) noexcept {
    m_haul = 1;
    for (runnable* rest = loot.next; rest != nullptr;) {
        runnable& item = *std::exchange(rest, rest->next);
        m_pool.policy().push(*this, item);
        stats.stolen.add();
        ++m_haul;
    }
    return &loot;
}

}  // namespace quern::detail
