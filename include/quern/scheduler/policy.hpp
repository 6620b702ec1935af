// SPDX-License-Identifier: BSL-1.0
// A scheduling policy: where a ready item is put, which one its worker takes next, and which ones a
// thief gets. A plain table of functions, chosen per pool, consulted in slow paths only: fork-join
// entries stay in the deque of their stack under every policy, and only `steals` concerns them.
// To add one, write its functions (src/scheduler/policies.cpp) and name it in the table. What each
// means to a program: docs/policies.md.
#pragma once

#include <quern/base/config.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace quern::detail {
class worker;
struct runnable;

/// What a thief asks for. It goes over all victims of its NUMA node in one turn after another, and
/// then so over those of other nodes.
struct theft {
    unsigned turn = 0;
    std::size_t batch = 0;     ///< items at most, as the user says; 0: as the policy finds right
    std::size_t appetite = 1;  ///< as many as the thief would like then; half is the most
};
}  // namespace quern::detail

namespace quern {

struct scheduling_policy {
    std::string_view name;
    std::string_view summary;

    /// Puts a ready item of normal priority into the queues of a worker, and says whom to tell of
    /// it; null: nobody, or it has done so itself. Called by `self`.
    detail::worker* (*push)(detail::worker& self, detail::runnable& item);
    /// The item that the worker takes next from its own queues, or null.
    detail::runnable* (*pop)(detail::worker& self);
    /// Puts an item back that `pop` has just given: the next `pop` gives it again. As push.
    detail::worker* (*put_back)(detail::worker& self, detail::runnable& item);
    /// Takes the item out of the worker's own queues, else false. For a task that waits for
    /// another one and can run it in its place.
    bool (*take_back)(detail::worker& self, const detail::runnable& item);
    /// Items that `thief` takes from the queues of `victim`, linked by `next` from the oldest to
    /// the youngest, or null. A worker that is its own victim wants the one that `pop` would give
    /// last.
    detail::runnable* (*steal)(detail::worker& victim, detail::worker& thief,
                               const detail::theft& what);
    /// Whether the worker's own queues hold anything that others may see (any thread, seq_cst).
    bool (*has_items)(const detail::worker& victim);
    /// Turns of a thief.
    unsigned turns = 1;
    /// Whether a worker takes what belongs to another: ready items and fork-join entries. If not,
    /// it does so only from one that is not active, and a task goes on where it began.
    bool steals = true;
    /// Whether `push` and `take_back` are those of the work-stealing deque alone, so that a worker
    /// goes there without a call.
    bool keeps_in_deque = false;
};

/// All policies, the default first.
std::span<const scheduling_policy* const> scheduling_policies() noexcept;

/// The policy of that name. Throws std::invalid_argument that names the known ones and the nearest
/// match. Example: `find_scheduling_policy("priority-local-fifo")`.
const scheduling_policy& find_scheduling_policy(std::string_view name);

}  // namespace quern
