// SPDX-License-Identifier: BSL-1.0
// A scheduling policy: where a ready item is put, which one its worker takes next, and which one a
// thief gets. A plain table of functions, chosen per pool, consulted in slow paths only: fork-join
// entries stay in the deque of their stack under every policy, and only `steals` concerns them.
// To add one, write its functions (src/scheduler/policies.cpp) and name it in the table.
#pragma once

#include <span>
#include <string_view>

namespace quern::detail {
class worker;
struct runnable;
}  // namespace quern::detail

namespace quern {

struct scheduling_policy {
    std::string_view name;
    std::string_view summary;

    /// Puts a ready item of normal priority into the worker's queues. Called by that worker.
    void (*push)(detail::worker& self, detail::runnable& item);
    /// The item that the worker takes next from its own queues, or null.
    detail::runnable* (*pop)(detail::worker& self);
    /// Puts an item back that `pop` has just given: the next `pop` gives it again.
    void (*put_back)(detail::worker& self, detail::runnable& item);
    /// An item that `thief` takes from the queues of `victim`, or null.
    detail::runnable* (*steal)(detail::worker& victim, detail::worker& thief);
    /// Whether the worker's own queues hold anything (any thread, seq_cst).
    bool (*has_items)(const detail::worker& victim);
    /// Whether thieves take fork-join entries from running and suspended stacks.
    bool steals;
};

/// All policies, the default first.
std::span<const scheduling_policy* const> scheduling_policies() noexcept;

/// The policy of that name. Throws std::invalid_argument that names the known ones and the nearest
/// match. Example: `find_scheduling_policy("priority-local-fifo")`.
const scheduling_policy& find_scheduling_policy(std::string_view name);

}  // namespace quern
