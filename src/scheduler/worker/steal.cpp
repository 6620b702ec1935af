// SPDX-License-Identifier: BSL-1.0
// Stealing: which victims a searching worker tries, in which order, and what it takes. The policy
// decides which items a victim gives (policies.cpp).
#include "worker/waking.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <utility>

namespace quern::detail {

namespace {

/// Least interval between two requests of a thief; the limit to which tiny thefts lengthen it; the
/// run time per item below which a theft is tiny.
constexpr double k_request_ns = 5'000;
constexpr double k_request_limit_ns = 200'000;
constexpr double k_tiny_ns = 1'000;

/// How long a thief leaves hinted items to a busy worker, and to an idle one, which is about to
/// take them (a wake-up takes 50 to 70 us on a virtual machine).
constexpr double k_left_to_busy_ns = 10'000;
constexpr double k_left_to_idle_ns = 1'000'000;

/// Most ready items that a thief takes at once when the previous ones were tiny. A larger limit
/// gains little (figures: docs/design/0010-memory-of-tasks.md).
constexpr std::uint32_t k_largest_batch_limit = 32;

}  // namespace

thief::thief(worker& self) noexcept
    : m_self(self), m_pool(self.home()), m_random(self.rank() + 1) {}

/// The last theft has been run. If its items were tiny, request less often and take more at once.
void thief::learn_from_theft() noexcept {
    if (m_stole_at != 0) {
        const double limit = k_tiny_ns * std::max(m_last_batch, 1U);
        const bool tiny = ticks() - m_stole_at < ticks_of_ns(limit);
        const tick_count least = ticks_of_ns(k_request_ns);
        m_request_interval =
            tiny ? std::clamp(2 * m_request_interval, least, ticks_of_ns(k_request_limit_ns))
                 : least;
        m_batch_limit =
            tiny && m_last_batch != 0 ? std::min(2 * m_batch_limit, k_largest_batch_limit) : 1;
        m_stole_at = 0;
    }
}

bool thief::may_request(tick_count now) noexcept {
    if (now - m_last_request < std::max(m_request_interval, ticks_of_ns(k_request_ns))) {
        return false;
    }
    m_last_request = now;
    return true;
}

/// Victims of the own NUMA node first, then of other nodes. Items hinted to other workers come
/// last.
work* thief::steal_round() noexcept {
    const bool has_placed = m_pool.has_placed();
    if (has_placed) {
        if (work* item = steal_above(key_of(priority::normal))) {
            return item;
        }
    }
    const tick_count now = ticks();
    const bool requests = m_pool.policy().steals && may_request(now);
    const std::span<const worker_shared::ring> near = m_self.near_victims();
    const std::span<const worker_shared::ring> all(m_self.victims());
    work* item = steal_from(near, requests, now);
    if (item == nullptr) {
        item = steal_from(all.subspan(near.size()), requests, now);
    }
    if (item == nullptr && has_placed) {
        item = steal_above(k_above_low);
    }
    return item != nullptr ? item : steal_hinted(now);
}

/// Takes an item hinted to another worker, if this worker has found nothing else.
work* thief::steal_hinted(tick_count now) noexcept {
    m_leaves_hinted = false;
    for (const worker_shared::ring& victims : m_self.victims()) {
        for (worker_shared* const victim : victims) {
            if (work* const item = steal_hinted(*victim, now)) {
                m_last_batch = 1;
                has_stolen_from(*victim);
                return item;
            }
        }
    }
    return nullptr;
}

/// No patience with a throttled victim: it does not take its items itself.
work* thief::steal_hinted(worker_shared& victim, tick_count now) noexcept {
    if (!victim.is_stealable() || victim.mailbox().empty()) {
        return nullptr;
    }
    const bool is_idle = victim.stats().phase() == worker_phase::idle;
    const tick_count patience = ticks_of_ns(is_idle ? k_left_to_idle_ns : k_left_to_busy_ns);
    if (!victim.is_throttled() && now - m_dry_since < patience) {
        m_leaves_hinted = true;
        return nullptr;
    }
    return victim.mailbox().pop_above(k_no_key);
}

void thief::has_stolen_from(worker_shared& victim) noexcept {
    if (const hooks* h = m_pool.hooks()) {
        h->steals(*h, m_self, victim);
    }
}

work* thief::steal_from(std::span<const worker_shared::ring> rings, bool requests,
                        tick_count now) noexcept {
    for (unsigned turn = 0; turn < m_pool.policy().turns; ++turn) {
        for (const worker_shared::ring& victims : rings) {
            const auto count = static_cast<std::uint32_t>(victims.size());
            const std::uint32_t start = m_random.below(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                worker_shared& victim = *victims[(start + i) % count];
                if (work* item = try_steal(victim, turn)) {
                    has_stolen_from(victim);
                    wake_for_rest(m_self, victim);
                    return item;
                }
                if (requests && turn == 0) {
                    victim.request_work(now);
                }
                if (turn == 0 && victim.is_silent(now) && victim.take_over()) {
                    --i;  // try this victim again
                }
            }
        }
    }
    return nullptr;
}

/// Tries fork entries in the first turn only.
work* thief::try_steal(worker_shared& victim, unsigned turn) noexcept {
    if (!victim.is_stealable()) {
        return nullptr;
    }
    if (turn == 0) {
        if (fork_entry* const entry = victim.steal_fork(m_forking_context)) {
            m_stolen_fork = entry;
            m_last_batch = 0;
            return entry;
        }
    }
    const std::size_t batch = m_pool.knobs().steal_batch.load(std::memory_order_relaxed);
    ready_list taken = victim.steal_kept(m_self.rank(), {turn, batch, m_batch_limit});
    m_last_batch = 1;
    if (!taken.empty()) {
        m_last_batch = static_cast<std::uint32_t>(taken.size());
        m_self.stats().stolen.add(taken.size() - 1);  // the search counts the first
        return m_self.keep_rest(taken);
    }
    return nullptr;
}

worker_shared& thief::any_other() noexcept {
    const std::uint32_t rank = m_self.rank();
    const std::uint32_t lot = m_random.below(m_pool.size() - 1);
    return m_pool.at(lot < rank ? lot : lot + 1);
}

/// Steals the best ranked items above the floor among all other workers: a batch, so that the thief
/// need not return for each. Any worker may take ranked items, regardless of the policy.
work* thief::steal_above(order_key floor) noexcept {
    worker_shared* from = nullptr;
    order_key best = floor;
    for (const worker_shared::ring& victims : m_self.victims()) {
        for (worker_shared* const victim : victims) {
            if (victim->ranked().best() > best) {
                best = victim->ranked().best();
                from = victim;
            }
        }
    }
    if (from == nullptr) {
        return nullptr;
    }
    ranked_queue& queue = from->ranked();
    const theft what{.batch = m_pool.knobs().steal_batch.load(std::memory_order_relaxed),
                     .batch_limit = m_batch_limit};
    ready_list taken = queue.pop_several_above(floor, what.share_of(queue.size()));
    if (taken.empty()) {
        return nullptr;
    }
    m_last_batch = static_cast<std::uint32_t>(taken.size());
    m_self.stats().stolen.add(taken.size() - 1);  // the search counts the first
    has_stolen_from(*from);
    runnable* const first = taken.pop_front().get();
    while (const ready_item item = taken.pop_front()) {
        m_self.ranked().push(*item.get());
    }
    return first;
}

/// Takes a forked child of a suspended task that this worker keeps.
work* thief::take_forked() noexcept {
    m_stolen_fork = m_self.steal_suspended(m_forking_context);
    return m_stolen_fork;
}

}  // namespace quern::detail
