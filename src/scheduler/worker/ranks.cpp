// SPDX-License-Identifier: BSL-1.0
// Selection of items with a special order: tasks with a rank, tasks of high and low priority, and
// such tasks with a hint for this worker. Called by take.cpp and by the stealing round
// (steal.cpp), and only after the first such task.
// Protocol: src/scheduler/README.md, section "Ranks".
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

/// Items between two that are taken regardless of rank. 17 times the interval at which a chain of
/// successors yields. It has no factor in common with the ageing interval, which is prime.
constexpr std::uint32_t k_turn_interval = 17 * worker::k_fairness_interval;

}  // namespace

/// Takes an item that precedes the usual ones: high priority first, then ranks above 0, unless it
/// is the turn of other items of normal priority.
work* item_selector::take_placed() noexcept {
    if (m_tick % k_turn_interval == 0) {
        if (work* item = take_placed_in_turn()) {
            return item;
        }
    }
    if (work* item = take_above(key_of(priority::high))) {
        return item;
    }
    if (work* item = m_pool.queues().high().pop()) {
        return item;
    }
    return take_above(is_turn_of_others() ? k_above_normal : key_of(priority::normal));
}

/// Alternates between this worker's ranked items, its hinted items and high priority, each rank in
/// turn. An endless load of a higher rank thus starves none of them for ever.
work* item_selector::take_placed_in_turn() noexcept {
    switch (m_tick / k_turn_interval % 3) {
        case 0:
            return m_self.ranked().pop_in_turn();
        case 1:
            return m_self.hinted().pop_in_turn();
        default:
            return m_pool.queues().high().pop();
    }
}

bool item_selector::is_turn_of_others() const noexcept {
    return (m_tick % 2 == 0 && !m_self.pinned().empty()) || (m_tick % 4 == 1 && m_fired != 0) ||
           (m_tick % worker::k_fairness_interval == 0 &&
            (!m_pool.queues().injector().empty() || !m_self.inbox().empty()));
}

/// Takes the best item above the floor of this worker's queues and of the ranked queue of one
/// random other worker. The better of two queues gives an order close to that of a single queue
/// (Rihani, Sanders, Dementiev, "MultiQueues: simple relaxed concurrent priority queues", 2015).
work* item_selector::take_above(order_key floor) noexcept {
    thief& thefts = m_self.thefts();
    worker_shared* const other = m_pool.size() > 1 ? &thefts.any_other() : nullptr;
    const order_key own = m_self.best_placed();
    if (other != nullptr && other->ranked().best() > std::max(own, floor)) {
        if (runnable* const item = other->ranked().pop_above(std::max(own, floor))) {
            m_self.stats().stolen.add();
            thefts.has_stolen_from(*other);
            return item;
        }
    }
    const bool is_hinted = m_self.hinted().best() > m_self.ranked().best();
    return (is_hinted ? m_self.hinted() : m_self.ranked()).pop_above(floor);
}

/// Called when nothing of a higher priority was found, here or on other workers.
work* item_selector::take_low() noexcept {
    if (!m_pool.has_placed()) {
        return m_pool.queues().low().pop();
    }
    for (const order_key floor : {key_of(priority::low), k_no_key}) {
        if (work* item = take_above(floor)) {
            return item;
        }
        if (work* item = m_self.thefts().steal_above(floor)) {
            return item;
        }
        if (work* item = floor != k_no_key ? m_pool.queues().low().pop() : nullptr) {
            return item;
        }
    }
    return nullptr;
}

/// True if an item of this worker, or one of high priority, precedes `item`, which has normal
/// priority.
bool item_selector::has_before(const runnable& item) const noexcept {
    return !m_pool.queues().high().empty() || m_self.best_placed() > key_of(item);
}

}  // namespace quern::detail
