// SPDX-License-Identifier: BSL-1.0
// How a worker steals: which victims it tries, what it takes, and what it learns from the last
// theft. Only the worker's own thread. Bodies: src/scheduler/worker/steal.cpp.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/rng.hpp>
#include <quern/scheduler/detail/worker_shared.hpp>

#include <cstdint>
#include <span>

namespace quern::detail {

class pool_shared;
class worker;

class thief {
public:
    explicit thief(worker& self) noexcept;

    /// Tries all victims once.
    work* steal_round() noexcept;
    /// Steals the best ranked items above the floor among all other workers.
    work* steal_above(order_key floor) noexcept;
    /// Takes a forked child of a suspended task that this worker keeps.
    work* take_forked() noexcept;

    /// Before a search: the items of the last theft have been run.
    void learn_from_theft() noexcept;
    /// A round of the search has found something.
    void begins_stolen() noexcept { m_stole_at = ticks(); }
    /// The worker has run out of work, or was woken.
    void is_dry(tick_count now) noexcept { m_dry_since = now; }
    /// Whether its last round has left hinted items to their workers.
    bool leaves_hinted() const noexcept { return m_leaves_hinted; }

    bool has_stolen_fork(const work& item) const noexcept { return &item == m_stolen_fork; }
    /// The context that held the last forked child that was stolen.
    context* forking_context() const noexcept { return m_forking_context; }

    worker_shared& any_other() noexcept;
    /// Reports a theft to the hooks.
    void has_stolen_from(worker_shared& victim) noexcept;

private:
    work* steal_from(std::span<const worker_shared::ring> rings, bool requests,
                     tick_count now) noexcept;
    work* try_steal(worker_shared& victim, unsigned turn) noexcept;
    work* steal_hinted(tick_count now) noexcept;
    work* steal_hinted(worker_shared& victim, tick_count now) noexcept;
    bool may_request(tick_count now) noexcept;

    worker& m_self;
    pool_shared& m_pool;
    rng m_random;
    tick_count m_last_request = 0;
    tick_count m_request_interval = 0;
    tick_count m_stole_at = 0;        ///< when the present item was stolen, or 0
    tick_count m_dry_since = 0;       ///< when it ran out of work, or was woken last since then
    bool m_leaves_hinted = false;     ///< its last round has left hinted items to their workers
    std::uint32_t m_last_batch = 0;   ///< ready items that were taken then
    std::uint32_t m_batch_limit = 1;  ///< how many of them a thief would like
    work* m_stolen_fork = nullptr;    ///< the last forked child that was stolen; may have gone
    context* m_forking_context = nullptr;  ///< the context that held it
};

}  // namespace quern::detail
