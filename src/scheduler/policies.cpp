// SPDX-License-Identifier: BSL-1.0
// The scheduling policies. Each is a few short functions and a row in the table; what they have in
// common (priorities, work from outside, fork-join entries) is the loop's business.
#include <quern/base/nearest_match.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/worker.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern {

namespace {

using detail::runnable;
using detail::worker;

/// Youngest first at home, oldest first for thieves (Blumofe and Leiserson, "Scheduling
/// multithreaded computations by work stealing", 1999).
constexpr scheduling_policy k_work_stealing{
    .name = "work-stealing",
    .summary = "youngest first on its own worker, oldest first to thieves (default)",
    .push = [](worker& self, runnable& item) { self.queues.deque.push(&item); },
    .pop = [](worker& self) { return self.queues.deque.pop(); },
    .put_back = [](worker& self, runnable& item) { self.queues.deque.push(&item); },
    .steal = [](worker& victim, worker&) { return victim.queues.deque.steal(); },
    .has_items = [](const worker& w) { return w.queues.deque.size() != 0; },
    .steals = true,
};

/// HPX's default policy (Grubel 2016, section 2.3.2): per worker a queue of staged tasks and one
/// of pending contexts, both oldest first; thieves prefer staged tasks, which carry no stack.
constexpr scheduling_policy k_priority_local_fifo{
    .name = "priority-local-fifo",
    .summary = "oldest first; resumed tasks before new ones; thieves take new ones first",
    .push =
        [](worker& self, runnable& item) {
            (item.staged ? self.queues.staged : self.queues.pending).push(item);
        },
    .pop =
        [](worker& self) {
            runnable* item = self.queues.pending.pop();
            return item != nullptr ? item : self.queues.staged.pop();
        },
    .put_back =
        [](worker& self, runnable& item) {
            (item.staged ? self.queues.staged : self.queues.pending).push_front(item);
        },
    .steal =
        [](worker& victim, worker&) {
            runnable* item = victim.queues.staged.pop();
            return item != nullptr ? item : victim.queues.pending.pop();
        },
    .has_items =
        [](const worker& w) { return !w.queues.pending.empty() || !w.queues.staged.empty(); },
    .steals = true,
};

constexpr std::array<const scheduling_policy*, 2> k_policies = {&k_work_stealing,
                                                                &k_priority_local_fifo};

}  // namespace

std::span<const scheduling_policy* const> scheduling_policies() noexcept { return k_policies; }

const scheduling_policy& find_scheduling_policy(std::string_view name) {
    std::vector<std::string_view> names;
    for (const scheduling_policy* p : k_policies) {
        if (p->name == name) {
            return *p;
        }
        names.push_back(p->name);
    }
    throw std::invalid_argument("quern: unknown scheduling policy '" + std::string(name) +
                                "': " + detail::accepted_values(name, names));
}

}  // namespace quern
