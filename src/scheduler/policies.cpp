// SPDX-License-Identifier: BSL-1.0
// The scheduling policies. Each is a few short functions and a row in the table; what they have in
// common (priorities, work from outside, fork-join entries) is the loop's business.
#include <quern/base/nearest_match.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/pool.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern {

namespace {

using detail::ready_ring;
using detail::runnable;
using detail::theft;
using detail::worker;

/// Several items where one is taken at a time: linked, the oldest first.
template <class Take>
runnable* take_in_turn(std::size_t batch, Take take) {
    runnable* const first = take();
    runnable* last = first;
    for (std::size_t n = 1; n < batch && last != nullptr; ++n) {
        last->next = take();
        last = last->next;
    }
    if (last != nullptr) {
        last->next = nullptr;
    }
    return first;
}

/// Items for a thief, at least one: what the user says, else what it would like, up to half.
std::size_t how_many(const theft& what, std::size_t of) {
    const std::size_t half = (of + 1) / 2;
    return what.batch != 0 ? what.batch : std::max<std::size_t>(1, std::min(what.appetite, half));
}

/// Whoever is hungry is told when some of it is made public.
worker* push_privately(worker& self, runnable& item) {
    self.queues.deque.push(&item);
    self.offer_if_wanted();
    return nullptr;
}

/// Youngest first at home, oldest first for thieves (Blumofe and Leiserson, "Scheduling
/// multithreaded computations by work stealing", 1999).
constexpr scheduling_policy k_work_stealing{
    .name = "work-stealing",
    .summary = "youngest first on its own worker, oldest first to thieves (default)",
    .push = push_privately,
    .pop =
        [](worker& self) {
            runnable* const item = self.queues.deque.pop();
            self.offer_if_wanted();
            return item;
        },
    .put_back = push_privately,
    .take_back =
        [](worker& self, const runnable& item) {
            const bool taken = self.queues.deque.remove(item);
            self.offer_if_wanted();
            return taken;
        },
    .steal =
        [](worker& victim, worker&, const theft& what) {
            auto& from = victim.queues.deque;
            return take_in_turn(how_many(what, from.public_size()),
                                [&from] { return from.steal(); });
        },
    .has_items = [](const worker& w) { return w.queues.deque.public_size() != 0; },
    .keeps_in_deque = true,
};

worker* push_by_kind(worker& self, runnable& item) {
    (item.staged ? self.queues.staged : self.queues.pending).push(item);
    return &self;
}

bool take_back_staged(worker& self, const runnable& item) {
    return self.queues.staged.remove(item);
}

/// Staged tasks first, which carry no stack, and always the oldest.
runnable* steal_by_kind(worker& victim, worker&, const theft& what) {
    ready_ring& from = what.turn == 0 ? victim.queues.staged : victim.queues.pending;
    return from.take_oldest(how_many(what, from.size()));
}

bool has_either_kind(const worker& w) {
    return !w.queues.pending.empty() || !w.queues.staged.empty();
}

/// HPX's default policy (Grubel 2016, section 2.3.2): per worker a queue of staged tasks and one
/// of pending contexts, both oldest first.
constexpr scheduling_policy k_priority_local_fifo{
    .name = "priority-local-fifo",
    .summary = "oldest first; resumed tasks before new ones; thieves take new ones first",
    .push = push_by_kind,
    .pop =
        [](worker& self) {
            runnable* item = self.queues.pending.pop_oldest();
            return item != nullptr ? item : self.queues.staged.pop_oldest();
        },
    .put_back =
        [](worker& self, runnable& item) {
            (item.staged ? self.queues.staged : self.queues.pending).push_oldest(item);
            return &self;
        },
    .take_back = take_back_staged,
    .steal = steal_by_kind,
    .has_items = has_either_kind,
    .turns = 2,
};

/// The same with the youngest first, so that memory grows with the depth of a program and not with
/// its breadth.
constexpr scheduling_policy k_priority_local_lifo{
    .name = "priority-local-lifo",
    .summary = "youngest first; resumed tasks before new ones; thieves take new ones, oldest first",
    .push = push_by_kind,
    .pop =
        [](worker& self) {
            runnable* item = self.queues.pending.pop_youngest();
            return item != nullptr ? item : self.queues.staged.pop_youngest();
        },
    .put_back = push_by_kind,
    .take_back = take_back_staged,
    .steal = steal_by_kind,
    .has_items = has_either_kind,
    .turns = 2,
};

worker* push_to_node(worker& self, runnable& item) {
    self.queues.of_node->push(item);
    return &self;
}

/// Of Qthreads (Olivier et al., "Scheduling task parallelism on multi-socket multicore systems",
/// 2011): the workers of a NUMA node share what is ready and the caches that it is in; a thief
/// brings half of another node's to its own, for all of them.
constexpr scheduling_policy k_sherwood{
    .name = "sherwood",
    .summary =
        "youngest first, shared by the workers of a NUMA node; thieves take half, the oldest",
    .push = push_to_node,
    .pop = [](worker& self) { return self.queues.of_node->pop_youngest(); },
    .put_back = push_to_node,
    .take_back = [](worker& self,
                    const runnable& item) { return self.queues.of_node->remove(item); },
    .steal = [](worker& victim, worker& thief, const theft& what) -> runnable* {
        // Another worker of the node would pop it.
        const bool is_shared = &victim != &thief && victim.queues.of_node == thief.queues.of_node;
        return is_shared ? nullptr : victim.queues.of_node->take_oldest(what.batch);
    },
    .has_items = [](const worker& w) { return !w.queues.of_node->empty(); },
};

// The two without stealing keep everything in the inbox, to which anybody may push.

runnable* pop_inbox(worker& self) { return self.queues.inbox.pop(); }
worker* put_back_inbox(worker& self, runnable& item) {
    self.queues.inbox.push_front(item);
    return &self;
}
bool take_back_from_inbox(worker& self, const runnable& item) {
    return self.queues.inbox.pop_if(&item) != nullptr;
}
runnable* steal_nothing(worker&, worker&, const theft&) { return nullptr; }
bool has_nothing_more(const worker&) { return false; }

/// Of Qthreads: new tasks go to all workers in turn.
constexpr scheduling_policy k_nemesis{
    .name = "nemesis",
    .summary = "new tasks to all workers in turn, oldest first; no stealing",
    .push = [](worker& self, runnable& item) -> worker* {
        worker& next = self.home().in_turn(self.queues.turn);
        next.queues.inbox.push(item);
        return &next;
    },
    .pop = pop_inbox,
    .put_back = put_back_inbox,
    .take_back = take_back_from_inbox,
    .steal = steal_nothing,
    .has_items = has_nothing_more,
    .steals = false,
};

/// As HPX's: who makes tasks runs them, unless a hint says otherwise.
constexpr scheduling_policy k_static{
    .name = "static",
    .summary = "tasks stay with the worker that made them or their hint, oldest first; no stealing",
    .push = [](worker& self, runnable& item) -> worker* {
        self.queues.inbox.push(item);
        return &self;
    },
    .pop = pop_inbox,
    .put_back = put_back_inbox,
    .take_back = take_back_from_inbox,
    .steal = steal_nothing,
    .has_items = has_nothing_more,
    .steals = false,
};

constexpr std::array k_policies = {
    &k_work_stealing, &k_priority_local_fifo, &k_priority_local_lifo, &k_sherwood, &k_nemesis,
    &k_static};

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
