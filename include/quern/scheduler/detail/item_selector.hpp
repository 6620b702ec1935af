// SPDX-License-Identifier: BSL-1.0
// The order in which a worker looks into its own queues and those of its pool. Only the worker's
// own thread. Bodies: src/scheduler/worker/take.cpp.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/ranked_queue.hpp>
#include <quern/scheduler/detail/turn_order.hpp>
#include <quern/scheduler/work.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::detail {

class pool_shared;
class worker;

class item_selector {
public:
    explicit item_selector(worker& self) noexcept;

    /// The next item of these queues, or null.
    work* take_ready() noexcept;
    /// An item of low priority or with a low rank, also from other workers. Called when there is
    /// nothing else.
    QUERN_COLD work* take_low() noexcept;
    /// The successor of what has just ended, unless it is the turn of others: null then.
    work* take_successor(runnable& item) noexcept;

    /// Timers have fired, whose tasks have not had their turn in the injector.
    void has_fired(std::size_t timers) noexcept { m_fired += timers; }

    // -- for take_in_turn() --------------------------------------------------------------------

    work* take(place from) noexcept;
    QUERN_COLD work* take_oldest(place from) noexcept;
    QUERN_COLD work* take_ranked(bool only_high) noexcept;
    QUERN_COLD work* take_below() noexcept;
    QUERN_COLD bool has(place of) const noexcept;
    bool has_ranks() const noexcept;
    bool has_fired() const noexcept { return m_fired != 0; }

private:
    work* take_injected() noexcept;
    work* take_oldest_kept() noexcept;
    work* take_above(order_key floor) noexcept;

    worker& m_self;
    pool_shared& m_pool;
    turn_order m_turn;
    std::size_t m_fired = 0;  ///< timers whose tasks have not had their turn in the injector
};

}  // namespace quern::detail
