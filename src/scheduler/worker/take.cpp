// SPDX-License-Identifier: BSL-1.0
// What a worker runs next: its places of items, in the order of turn_order.hpp. When all of these
// are empty it searches at others (search.cpp).
// Protocol: src/scheduler/README.md, sections "Turns" and "Ranks".
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>

namespace quern::detail {

item_selector::item_selector(worker& self) noexcept : m_self(self), m_pool(self.home()) {}

bool item_selector::has_ranks() const noexcept { return m_pool.has_placed(); }

/// In some turns the successor yields to other items, so that a chain of successors starves none of
/// them for ever.
work* item_selector::take_successor(runnable& item) noexcept {
    const bool is_others = m_turn.next_is_of_others() || has_fired() || m_self.has_pinned() ||
                           (has_ranks() && m_self.best_placed() > key_of(item));
    if (is_others) {
        m_self.push(item);
        return nullptr;
    }
    m_turn.begin_next();
    m_self.stats().looks.add();
    return &item;
}

work* item_selector::take_ready() noexcept {
    m_self.stats().looks.add();
    m_turn.begin_next();
    work* const item = take_in_turn(m_turn, *this);
    if (item == nullptr) {
        m_self.stats().misses.add();
    }
    return item;
}

QUERN_ALWAYS_INLINE work* item_selector::take(place from) noexcept {
    switch (from) {
        case place::kept:
            return m_self.pop();
        case place::mailbox:
            return m_self.mailbox().pop_above(k_below_normal);
        case place::injector:
            return take_injected();
        case place::pinned:
            return m_self.pinned().pop();
        case place::forked:
            return m_self.thefts().take_forked();
        case place::ranked:
            break;
    }
    return nullptr;
}

bool item_selector::has(place of) const noexcept {
    return of == place::pinned     ? m_self.has_pinned()
           : of == place::mailbox  ? m_self.mailbox().best() > k_below_normal
           : of == place::injector ? !m_pool.injector().empty()
                                   : false;
}

work* item_selector::take_injected() noexcept {
    work* const item = m_pool.injector().pop();
    if (m_fired != 0) {
        m_fired = item != nullptr ? m_fired - 1 : 0;
    }
    return item;
}

/// Each key of a queue in turn, whatever is pushed.
work* item_selector::take_oldest(place from) noexcept {
    return from == place::ranked    ? m_self.ranked().pop_in_turn()
           : from == place::mailbox ? m_self.mailbox().pop_in_turn()
           : from == place::kept    ? take_oldest_kept()
                                    : take(from);
}

/// Takes the oldest item of this worker's own queues, as a thief would. Tasks that wake one another
/// are always the youngest and could otherwise starve it for ever.
work* item_selector::take_oldest_kept() noexcept {
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

work* item_selector::take_ranked(bool only_high) noexcept {
    return take_above(only_high ? k_above_normal : key_of(priority::normal));
}

work* item_selector::take_below() noexcept { return take_above(k_above_low); }

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
    const bool is_for_it = m_self.mailbox().best() > m_self.ranked().best();
    return (is_for_it ? m_self.mailbox() : m_self.ranked()).pop_above(floor);
}

/// Called when nothing of a higher priority was found, here or on other workers.
work* item_selector::take_low() noexcept {
    if (!has_ranks()) {
        return nullptr;
    }
    work* const item = take_above(k_no_key);
    return item != nullptr ? item : m_self.thefts().steal_above(k_no_key);
}

}  // namespace quern::detail
