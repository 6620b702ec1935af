// SPDX-License-Identifier: BSL-1.0
// What a worker runs next: the order in which it looks into its queues and those of the pool. When
// all of these are empty it searches at others (search.cpp).
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <cstdint>

namespace quern::detail {

namespace {

/// Items between two checks of the items that others precede by priority. An endless load of a
/// higher priority thus starves no item for ever.
constexpr std::uint32_t k_ageing_interval = 1021;

/// Of this many turns, one prefers a timed task that has become ready.
constexpr std::uint32_t k_timed_interval = 4;

}  // namespace

item_selector::item_selector(worker& self) noexcept : m_self(self), m_pool(self.home()) {}

/// In some turns the successor yields to other items, so that a chain of successors starves none of
/// them for ever.
work* item_selector::take_successor(runnable& item) noexcept {
    const std::uint32_t turn = m_tick + 1;
    const bool is_others = turn % worker::k_fairness_interval == 0 ||
                           turn % k_ageing_interval == 0 || m_fired != 0 || m_self.has_pinned() ||
                           (m_pool.has_placed() && has_before(item));
    if (is_others) {
        m_self.push(item);
        return nullptr;
    }
    m_tick = turn;
    m_self.stats().looks.add();
    return &item;
}

work* item_selector::take_ready() noexcept {
    m_self.stats().looks.add();
    work* const item = look_for_ready();
    if (item == nullptr) {
        m_self.stats().misses.add();
    }
    return item;
}

work* item_selector::look_for_ready() noexcept {
    ++m_tick;
    if (m_tick % k_ageing_interval == 0) {
        if (work* item = take_aged()) {
            return item;
        }
    }
    if (m_pool.has_placed()) [[unlikely]] {
        if (work* item = take_placed()) {
            return item;
        }
    }
    const bool pinned_first = m_tick % 2 == 0;  // alternates with all other items
    if (pinned_first) {
        if (work* item = m_self.pinned().pop()) {
            return item;
        }
    }
    if (m_fired != 0 && m_tick % k_timed_interval == 1) {  // likewise: fired timers
        work* const item = m_pool.queues().injector().pop();
        m_fired = item != nullptr ? m_fired - 1 : 0;
        if (item != nullptr) {
            return item;
        }
    }
    if (m_tick % worker::k_fairness_interval == 0) {
        if (work* item = m_pool.queues().injector().pop()) {
            return item;
        }
        if (work* item = m_self.inbox().pop()) {
            return item;
        }
    }
    if (work* item = m_self.pop()) {
        return item;
    }
    if (work* item = take_injected()) {
        return item;
    }
    if (!pinned_first) {
        if (work* item = m_self.pinned().pop()) {
            return item;
        }
    }
    work* const forked = m_self.thefts().take_forked();
    return forked == nullptr && m_pool.has_placed() ? take_above(k_above_low) : forked;
}

/// Alternates between low and normal priority, whatever else is ready. Within normal priority it
/// alternates between a pinned item, the item that the policy would give last, and a forked child.
work* item_selector::take_aged() noexcept {
    const std::uint32_t turn = m_tick / k_ageing_interval % 6;
    if (turn % 2 == 0) {
        return m_pool.queues().low().pop();
    }
    work* item = turn == 1   ? m_self.pinned().pop()
                 : turn == 3 ? take_oldest()
                             : m_self.thefts().take_forked();
    if (item == nullptr) {
        item = m_self.pop();
    }
    return item != nullptr ? item : take_injected();
}

/// Takes the oldest item of this worker's own queues, as a thief would. Tasks that wake one another
/// are always the youngest and could otherwise starve it for ever.
work* item_selector::take_oldest() noexcept {
    if (m_self.deque().public_size() == 0 && m_self.deque().has_private()) {
        m_self.deque().publish_half();
        m_self.notify_public_work();
    }
    for (unsigned turn = 0; turn < m_pool.policy().turns; ++turn) {
        ready_list oldest = m_self.steal_kept(m_self.rank(), {.turn = turn, .batch = 1});
        if (!oldest.empty()) {
            return m_self.keep_rest(oldest);
        }
    }
    return nullptr;
}

work* item_selector::take_injected() noexcept {
    work* item = m_self.inbox().pop();
    return item != nullptr ? item : m_pool.queues().injector().pop();
}

}  // namespace quern::detail
