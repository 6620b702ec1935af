// SPDX-License-Identifier: BSL-1.0
// Stealing: which victims a searching worker tries, in which order, and what it takes. Called only
// by the search in take.cpp. The policy decides which items a victim gives (policies.cpp).
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

/// A victim that has not answered a request for so long runs code that does not check for requests.
/// Interrupting it then pays (1 to 2 us on two processors).
constexpr double k_patience_ns = 10'000;

/// How long a thief leaves hinted items to a busy worker, and to an idle one, which is about to
/// take them (a wake-up takes 50 to 70 us on a virtual machine).
constexpr double k_left_to_busy_ns = 10'000;
constexpr double k_left_to_idle_ns = 1'000'000;

/// Most ready items that a thief takes at once when the previous ones were tiny. A larger limit
/// gains little (figures: docs/design/0010-memory-of-tasks.md).
constexpr std::uint32_t k_largest_batch_limit = 32;

}  // namespace

/// The last theft has been run. If its items were tiny, request less often and take more at once.
void worker::learn_from_theft() noexcept {
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

bool worker::may_request(tick_count now) noexcept {
    if (now - m_last_request < std::max(m_request_interval, ticks_of_ns(k_request_ns))) {
        return false;
    }
    m_last_request = now;
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

/// Victims of the own NUMA node first, then of other nodes. Items hinted to other workers come
/// last.
work* worker::steal_round() noexcept {
    const bool has_placed = m_pool.has_placed();
    if (has_placed) {
        if (work* item = steal_above(key_of(priority::normal))) {
            return item;
        }
    }
    const tick_count now = ticks();
    const bool requests = m_pool.policy().steals && may_request(now);
    const std::span<const ring> rings(m_victims);
    work* item = steal_from(rings.first(m_rings_of_node), requests, now);
    if (item == nullptr) {
        item = steal_from(rings.subspan(m_rings_of_node), requests, now);
    }
    if (item == nullptr && has_placed) {
        item = steal_above(k_above_low);
    }
    return item != nullptr ? item : steal_hinted(now);
}

/// Takes an item hinted to another worker, if this worker has found nothing else.
work* worker::steal_hinted(tick_count now) noexcept {
    m_leaves_hinted = false;
    for (const ring& victims : m_victims) {
        for (worker* const victim : victims) {
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
work* worker::steal_hinted(worker& victim, tick_count now) noexcept {
    worker_queues& of = victim.queues;
    if (!victim.is_stealable() || (of.inbox.empty() && of.hinted.empty())) {
        return nullptr;
    }
    const bool is_idle = victim.stats.phase() == worker_phase::idle;
    const tick_count patience = ticks_of_ns(is_idle ? k_left_to_idle_ns : k_left_to_busy_ns);
    if (!victim.is_throttled() && now - m_dry_since < patience) {
        m_leaves_hinted = true;
        return nullptr;
    }
    if (runnable* const item = of.hinted.pop_above(key_of(priority::normal))) {
        return item;
    }
    runnable* const item = of.inbox.pop();
    return item != nullptr ? item : of.hinted.pop_above(k_no_key);
}

void worker::has_stolen_from(worker& victim) noexcept {
    if (const hooks* h = m_pool.hooks.load(std::memory_order_acquire)) {
        h->steals(*h, *this, victim);
    }
}

work* worker::steal_from(std::span<const ring> rings, bool requests, tick_count now) noexcept {
    for (unsigned turn = 0; turn < m_pool.policy().turns; ++turn) {
        for (const ring& victims : rings) {
            const auto count = static_cast<std::uint32_t>(victims.size());
            const std::uint32_t start = m_random.below(count);
            for (std::uint32_t i = 0; i < count; ++i) {
                worker& victim = *victims[(start + i) % count];
                if (work* item = try_steal(victim, turn)) {
                    has_stolen_from(victim);
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
work* worker::try_steal(worker& victim, unsigned turn) noexcept {
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
    const std::size_t batch = m_pool.knobs.steal_batch.load(std::memory_order_relaxed);
    ready_list taken = take_kept(victim, {turn, batch, m_batch_limit});
    m_last_batch = 1;
    if (!taken.empty()) {
        m_last_batch = static_cast<std::uint32_t>(taken.size());
        stats.stolen.add(taken.size() - 1);  // the search counts the first
        return keep_rest(taken);
    }
    return nullptr;
}

/// Takes from the items that the victim keeps by its policy.
ready_list worker::take_kept(worker& victim, const theft& what) noexcept {
    if (!keeps_in_deque()) {
        return m_policy_queues->steal(victim.m_rank, m_rank, what);
    }
    ready_list taken;
    auto& from = victim.queues.deque;
    for (std::size_t wanted = what.share_of(from.public_size()); wanted != 0; --wanted) {
        runnable* const item = from.steal();
        if (item == nullptr) {
            break;
        }
        taken.push_back(ready_item(item));
    }
    return taken;
}

/// Puts all but the first into the own queues. Requires: `taken` is not empty. Wakes no worker: the
/// caller is searching, and the last worker that stops searching wakes another one. Exception: an
/// item that the policy assigns to another worker; that worker is notified.
work* worker::keep_rest(ready_list& taken) noexcept {
    work* const first = taken.pop_front().get();
    while (const ready_item item = taken.pop_front()) {
        if (keeps_in_deque()) {
            queues.deque.push(item.get());
            offer_if_wanted();
            continue;
        }
        worker& holder = m_pool.at(m_policy_queues->push(m_rank, item));
        if (&holder != this) {
            notify_work_of(holder);
        }
    }
    return first;
}

}  // namespace quern::detail
