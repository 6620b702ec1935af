// SPDX-License-Identifier: BSL-1.0
// Selection of items with a special order: tasks with a rank, tasks of high and low priority, and
// such tasks with a hint for this worker. Called by take.cpp and by the stealing round
// (steal.cpp), and only after the first such task.
// Protocol: README.md in this folder, section "Ranks".
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

/// Items between two that are taken regardless of rank. 17 times the interval at which a chain of
/// successors yields. It has no factor in common with the ageing interval, which is prime.
constexpr std::uint32_t k_turn_interval = 17 * worker::k_fairness_interval;

}  // namespace

/// Items with a rank from outside threads go to the workers round-robin.
worker& pool::next_for_ranked() noexcept {
    const std::uint32_t turn = m_ranked_turn.fetch_add(1, std::memory_order_relaxed);
    return at(turn % knobs.active_workers.load(std::memory_order_relaxed));
}

void worker::push_ranked(ready_batch& items) noexcept {
    if (!items.empty()) {
        m_pool.note_placed();
        queues.ranked.push(items);
        notify_public_work();
    }
}

/// Takes an item that precedes the usual ones: high priority first, then ranks above 0, unless it
/// is the turn of other items of normal priority.
work* worker::take_placed() noexcept {
    if (m_tick % k_turn_interval == 0) {
        if (work* item = take_placed_in_turn()) {
            return item;
        }
    }
    if (work* item = take_above(key_of(priority::high))) {
        return item;
    }
    if (work* item = m_pool.high.pop()) {
        return item;
    }
    return take_above(is_turn_of_others() ? k_above_normal : key_of(priority::normal));
}

/// Alternates between this worker's ranked items, its hinted items and high priority, each rank in
/// turn. An endless load of a higher rank thus starves none of them for ever.
work* worker::take_placed_in_turn() noexcept {
    switch (m_tick / k_turn_interval % 3) {
        case 0:
            return queues.ranked.pop_in_turn();
        case 1:
            return queues.hinted.pop_in_turn();
        default:
            return m_pool.high.pop();
    }
}

bool worker::is_turn_of_others() const noexcept {
    return (m_tick % 2 == 0 && !queues.pinned.empty()) || (m_tick % 4 == 1 && m_fired != 0) ||
           (m_tick % k_fairness_interval == 0 &&
            (!m_pool.injector.empty() || !queues.inbox.empty()));
}

/// Takes the best item above the floor of this worker's queues and of the ranked queue of one
/// random other worker. The better of two queues gives an order close to that of a single queue
/// (Rihani, Sanders, Dementiev, "MultiQueues: simple relaxed concurrent priority queues", 2015).
work* worker::take_above(order_key floor) noexcept {
    worker* const other = m_pool.size() > 1 ? &any_other() : nullptr;
    const order_key own = std::max(queues.ranked.best(), queues.hinted.best());
    if (other != nullptr && other->queues.ranked.best() > std::max(own, floor)) {
        if (runnable* const item = other->queues.ranked.pop_above(std::max(own, floor))) {
            stats.stolen.add();
            has_stolen_from(*other);
            return item;
        }
    }
    const bool is_hinted = queues.hinted.best() > queues.ranked.best();
    return (is_hinted ? queues.hinted : queues.ranked).pop_above(floor);
}

worker& worker::any_other() noexcept {
    const std::uint32_t lot = m_random.below(m_pool.size() - 1);
    return m_pool.at(lot < m_rank ? lot : lot + 1);
}

/// Called when nothing of a higher priority was found, here or on other workers.
work* worker::take_low() noexcept {
    if (!m_pool.has_placed()) {
        return m_pool.low.pop();
    }
    for (const order_key floor : {key_of(priority::low), k_no_key}) {
        if (work* item = take_above(floor)) {
            return item;
        }
        if (work* item = steal_above(floor)) {
            return item;
        }
        if (work* item = floor != k_no_key ? m_pool.low.pop() : nullptr) {
            return item;
        }
    }
    return nullptr;
}

/// True if an item of this worker, or one of high priority, precedes `item`, which has normal
/// priority.
bool worker::has_before(const runnable& item) const noexcept {
    return !m_pool.high.empty() ||
           std::max(queues.ranked.best(), queues.hinted.best()) > key_of(item);
}

/// Steals the best ranked items above the floor among all other workers: a batch, so that the thief
/// need not return for each. Any worker may take ranked items, regardless of the policy.
work* worker::steal_above(order_key floor) noexcept {
    worker* from = nullptr;
    order_key best = floor;
    for (const ring& victims : m_victims) {
        for (worker* const victim : victims) {
            if (victim->queues.ranked.best() > best) {
                best = victim->queues.ranked.best();
                from = victim;
            }
        }
    }
    if (from == nullptr) {
        return nullptr;
    }
    ranked_queue& queue = from->queues.ranked;
    const theft what{.batch = m_pool.knobs.steal_batch.load(std::memory_order_relaxed),
                     .batch_limit = m_batch_limit};
    ready_list taken = queue.pop_several_above(floor, what.share_of(queue.size()));
    if (taken.empty()) {
        return nullptr;
    }
    m_last_batch = static_cast<std::uint32_t>(taken.size());
    stats.stolen.add(taken.size() - 1);  // the search counts the first
    has_stolen_from(*from);
    runnable* const first = taken.pop_front().get();
    while (const ready_item item = taken.pop_front()) {
        queues.ranked.push(*item.get());
    }
    return first;
}

}  // namespace quern::detail
