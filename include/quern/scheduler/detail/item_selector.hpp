// SPDX-License-Identifier: BSL-1.0
// The order in which a worker looks into its own queues and those of its pool. Only the worker's
// own thread. Bodies: src/scheduler/worker/take.cpp, and ranks.cpp for items with a special order.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/ranked_queue.hpp>
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

private:
    work* look_for_ready() noexcept;
    work* take_aged() noexcept;
    work* take_oldest() noexcept;
    work* take_injected() noexcept;
    QUERN_COLD work* take_placed() noexcept;
    QUERN_COLD work* take_placed_in_turn() noexcept;
    QUERN_COLD work* take_above(order_key floor) noexcept;
    QUERN_COLD bool has_before(const runnable& item) const noexcept;
    bool is_turn_of_others() const noexcept;

    worker& m_self;
    pool_shared& m_pool;
    std::uint32_t m_tick = 0;
    std::size_t m_fired = 0;  ///< timers whose tasks have not had their turn in the injector
};

}  // namespace quern::detail
