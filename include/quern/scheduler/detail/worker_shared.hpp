// SPDX-License-Identifier: BSL-1.0
// What other threads may do with a worker: thieves take from it, senders put into its locked
// queues, wakers wake it. A pool gives its workers as this type. What only the worker's own thread
// may do is in `worker`, which extends it and uses the protected functions on itself.
#pragma once

#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/worker_status.hpp>
#include <quern/scheduler/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quern::detail {

class worker_shared : public worker_status {
public:
    /// Victims at one distance.
    using ring = std::vector<worker_shared*>;

    // -- thieves ------------------------------------------------------------------------------

    /// The deque, as thieves may use it.
    steal_end deque() noexcept { return steal_end(own_deque()); }

    /// Takes a fork entry from the running context or the stealable contexts; `from` is the one
    /// that held it.
    fork_entry* steal_fork(context*& from) noexcept;
    /// The same only from the stealable contexts.
    fork_entry* steal_suspended(context*& from) noexcept { return own_suspended().steal(from); }
    /// Takes from the items that it keeps by its policy.
    ready_list steal_kept(std::uint32_t thief, const theft& what) noexcept;

    void request_work(tick_count now) noexcept;
    /// Whether it keeps work for itself although a thief asked for it long ago, because it runs
    /// something that does not look, and whether others can take that over.
    bool is_silent(tick_count now) const noexcept;
    /// Makes some of what it keeps for itself public. True: there is something to steal now.
    bool take_over() noexcept;

    bool has_public_work() noexcept;
    /// Whether others may take what it holds. Not under policies that do not steal, unless it is
    /// throttled.
    bool is_stealable() const noexcept;
    bool is_throttled() const noexcept;

    // -- senders: queues with locks -------------------------------------------------------------

    using worker_queues::mailbox;
    using worker_queues::ranked;
    /// The highest key of what it has in order.
    order_key best_placed() const noexcept { return std::max(ranked().best(), mailbox().best()); }
    /// Makes a context ready that only this worker may resume.
    void put_pinned(context& c) noexcept { own_pinned().push(c); }
    bool has_pinned() const noexcept { return !own_pinned().empty(); }

    // -- wakers ---------------------------------------------------------------------------------

    /// For the gate of its pool.
    sleeper<std_atomics>& parker() noexcept { return m_parker; }
    /// Whether it sleeps or keeps watch.
    bool is_asleep() const noexcept { return m_parker.is_asleep(); }
    /// Whether a thread from outside has its place while it sleeps.
    bool lends_place() const noexcept { return m_parker.has_guest(); }

    // -- its place among the others -----------------------------------------------------------

    /// Its NUMA node among those of the pool.
    std::uint32_t node_index() const noexcept { return m_node; }
    /// Whom it steals from, nearest first; those within its NUMA node.
    const std::vector<ring>& victims() const noexcept { return m_victims; }
    std::span<const ring> near_victims() const noexcept {
        return std::span(m_victims).first(m_rings_of_node);
    }

    /// Ready items in the queues of only this worker; what it was a moment ago.
    std::size_t queued() const noexcept;

protected:
    worker_shared(pool& home, std::uint32_t rank) : worker_status(home, rank) {}
    ~worker_shared() = default;

    // By its pool, before it starts.
    void set_node(std::uint32_t index) noexcept { m_node = index; }
    void set_victims(std::vector<ring> all) { m_victims = std::move(all); }
    void count_near_rings() noexcept;
    void set_policy_queues(policy_queues& of_pool) noexcept { m_policy_queues = &of_pool; }

    /// Of the pool; null: the deque.
    policy_queues* kept_by_policy() const noexcept { return m_policy_queues; }

private:
    bool has_items() noexcept;

    alignas(k_cache_line) sleeper<std_atomics> m_parker;
    std::uint32_t m_node = 0;
    policy_queues* m_policy_queues = nullptr;
    std::vector<ring> m_victims;      ///< nearest first
    std::size_t m_rings_of_node = 0;  ///< of these, those within the worker's NUMA node
};

}  // namespace quern::detail
