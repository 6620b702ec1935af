// SPDX-License-Identifier: BSL-1.0
// A scheduling policy: the queues in which a pool keeps its ready tasks, which task a worker takes
// next, which tasks a thief gets, and the order of victims. Chosen per pool, by name. Called in
// slow paths only: under every policy fork-join entries stay in the deque of their stack. Built-in
// policies: src/scheduler/policies/policies.cpp; how a program writes one: docs/policies.md.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/ready_item.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace quern::detail {
class pool;
}  // namespace quern::detail

namespace quern {

/// A request of a thief. The thief tries all victims of its NUMA node, one round per turn, then
/// those of other nodes in the same way.
struct theft {
    unsigned turn = 0;
    std::size_t batch = 0;        ///< most items, from the user; 0: the policy decides
    std::size_t batch_limit = 1;  ///< batch limit in that case

    /// The number of items to give out of `items`: the user's number, else the batch limit but at
    /// most half; at least one.
    std::size_t share_of(std::size_t items) const noexcept;
};

/// The pool for which queues are made. Cheap to copy; valid as long as the queues.
class policy_host {
public:
    explicit policy_host(detail::pool& of) noexcept : m_pool(&of) {}

    unsigned workers() const noexcept;
    /// Only workers of lower rank take work. May change at any time.
    unsigned active_workers() const noexcept;
    /// The NUMA nodes with workers of this pool are numbered 0, 1, ... in the order of their first
    /// workers. Workers that are not bound are all on node 0.
    unsigned nodes() const noexcept;
    unsigned node_of(unsigned worker) const noexcept;

    /// For the built-in policies.
    detail::pool& pool() const noexcept { return *m_pool; }

private:
    detail::pool* m_pool;
};

/// The queues of one pool, for items of normal priority without a hint; other items have queues of
/// their own. Workers are numbered 0 to workers() - 1. Several workers call at the same time. Each
/// passes its own number as first argument, except to steal, size, shared_size and has_items. The
/// functions must not suspend the caller (no quern::mutex) and must not create tasks. An exception
/// ends the program.
class policy_queues {
public:
    policy_queues() = default;
    policy_queues(const policy_queues&) = delete;
    policy_queues& operator=(const policy_queues&) = delete;
    virtual ~policy_queues() = default;

    /// Worker `self` has made the item ready. Returns the worker whose queue holds it: `self` also
    /// when the queue belongs to all workers. That worker, or another one that may take the item,
    /// is woken.
    virtual unsigned push(unsigned self, ready_item item) = 0;

    /// The item that the worker runs next, or none.
    virtual ready_item pop(unsigned self) = 0;

    /// Puts back an item that `pop` has just returned, preferably so that `pop` returns it next.
    /// Returns the same as push.
    virtual unsigned put_back(unsigned self, ready_item item) { return push(self, item); }

    /// Removes an item from the worker's own queues, because a task that waits for it runs it
    /// inline. False: it is not there, or the search takes too long. It is then run inline as well,
    /// and the item in the queue does nothing.
    virtual bool take_back(unsigned self, ready_item item);

    /// Items for another worker, the first one to be run first. A worker that is its own victim
    /// wants the item that `pop` would return last, so that none starves. May be omitted if `pop`
    /// gives every worker every item, oldest first. Under a policy that does not steal it is called
    /// only for inactive victims.
    virtual ready_list steal(unsigned victim, unsigned thief, const theft& what);

    /// Items only in queues of that worker, and items in shared queues. Any thread. A `push` must
    /// be visible afterwards: use a lock in both functions, or an atomic that `push` changes by a
    /// seq_cst read-modify-write.
    virtual std::size_t size(unsigned worker) const = 0;
    virtual std::size_t shared_size() const { return 0; }

    /// Whether `pop` or `steal` would return an item within that worker's reach. Visibility as for
    /// size().
    virtual bool has_items(unsigned worker) const {
        return size(worker) != 0 || shared_size() != 0;
    }
};

/// The victims of a thief in groups. All victims of a group, beginning with a random one, are tried
/// before the next group.
using victim_rings = std::vector<std::vector<unsigned>>;

struct scheduling_policy {
    std::string_view name = {};  ///< of a-z, 0-9, - and _
    std::string_view summary = {};

    /// Makes the queues of a pool. Null: each worker keeps its items in its work-stealing deque; it
    /// runs the youngest first, thieves take the oldest.
    std::unique_ptr<policy_queues> (*make)(policy_host of) = nullptr;

    /// Changes the order of victims of a thief; called once per thief when the pool is made.
    /// Receives the default order, nearest group first. Each other worker must occur exactly once.
    /// Null: no change.
    void (*arrange)(policy_host of, unsigned thief, victim_rings& victims) = nullptr;

    /// Rounds of a thief over its victims; `steal` receives the round.
    unsigned turns = 1;

    /// Whether a worker takes ready items and fork-join entries of others. If not, it takes them
    /// only from inactive workers, and a task stays on the worker where it began.
    bool steals = true;
};

/// All policies: the default first, then the other built-in ones, then others in order of
/// registration. Thread safe.
std::span<const scheduling_policy> scheduling_policies() noexcept;

/// Adds a policy of a program or library. It can then be chosen like all others: by pool_options,
/// `--quern:policy=NAME`, QUERN_POLICY. Register early: an unknown name is an error when the
/// setting is read. Everything that the row points to must live as long as the process. Throws
/// std::invalid_argument for a name in use or with characters other than a-z, 0-9, - and _, and for
/// an incomplete or contradictory row; std::length_error beyond 32 policies. Thread safe.
///
///     static constexpr quern::scheduling_policy k_ring{
///         .name = "one-ring", .summary = "the default, with all victims at the same distance",
///         .arrange = [](quern::policy_host of, unsigned thief, quern::victim_rings& victims) {
///             victims.assign(1, {});
///             for (unsigned w = 0; w < of.workers(); ++w) {
///                 if (w != thief) victims[0].push_back(w);
///             }
///         }};
///     quern::register_policy(k_ring);
void register_policy(const scheduling_policy& row);

/// The policy of that name. Throws std::invalid_argument that lists the known names and the nearest
/// match. Example: `find_scheduling_policy("priority-local-fifo")`.
const scheduling_policy& find_scheduling_policy(std::string_view name);

}  // namespace quern
