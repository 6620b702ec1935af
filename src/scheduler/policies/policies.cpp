// SPDX-License-Identifier: BSL-1.0
// The built-in scheduling policies. Each consists of the queues of a pool and a row in the table.
// The loop handles what is common to all: priorities, hints, work from outside, fork-join entries.
// The default policy has no queues here: its items are in the workers' deques.
#include <quern/scheduler/policy.hpp>

#include "policies/policy_table.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/ready_ring.hpp>

#include <memory>
#include <vector>

namespace quern {

namespace {

using detail::ready_ring;

template <class Queues>
std::unique_ptr<policy_queues> make(policy_host of) {
    return std::make_unique<Queues>(of);
}

/// HPX's default policy (Grubel 2016, section 2.3.2): each worker has a queue of staged tasks and
/// one of pending contexts. Thieves take staged tasks first, because they carry no stack, and
/// always the oldest.
class by_kind : public policy_queues {
public:
    explicit by_kind(policy_host of) : m_of(of.workers()) {}

    unsigned push(unsigned self, ready_item item) override {
        ring_for(self, item).push(*item.get());
        return self;
    }
    bool take_back(unsigned self, ready_item item) override {
        return m_of[self].staged.remove(*item.get());
    }
    ready_list steal(unsigned victim, unsigned, const theft& what) override {
        ready_ring& from = what.turn == 0 ? m_of[victim].staged : m_of[victim].pending;
        return from.take_oldest(what.share_of(from.size()));
    }
    std::size_t size(unsigned worker) const override {
        return m_of[worker].pending.size() + m_of[worker].staged.size();
    }
    bool has_items(unsigned worker) const override {
        return !m_of[worker].pending.empty() || !m_of[worker].staged.empty();
    }

protected:
    struct rings {
        ready_ring pending;
        ready_ring staged;
    };
    ready_ring& ring_for(unsigned self, ready_item item) {
        return item.is_new() ? m_of[self].staged : m_of[self].pending;
    }
    std::vector<rings> m_of;
};

class priority_local_fifo final : public by_kind {
public:
    using by_kind::by_kind;

    ready_item pop(unsigned self) override {
        detail::runnable* const item = m_of[self].pending.pop_oldest();
        return ready_item(item != nullptr ? item : m_of[self].staged.pop_oldest());
    }
    unsigned put_back(unsigned self, ready_item item) override {
        ring_for(self, item).push_oldest(*item.get());
        return self;
    }
};

/// The same with the youngest first, so that memory grows with the depth of a program, not with its
/// breadth.
class priority_local_lifo final : public by_kind {
public:
    using by_kind::by_kind;

    ready_item pop(unsigned self) override {
        detail::runnable* const item = m_of[self].pending.pop_youngest();
        return ready_item(item != nullptr ? item : m_of[self].staged.pop_youngest());
    }
};

/// From Qthreads (Olivier et al., "Scheduling task parallelism on multi-socket multicore systems",
/// 2011): the workers of a NUMA node share a queue and the caches that hold its data. A thief moves
/// half of another node's items to its own node.
class sherwood final : public policy_queues {
public:
    explicit sherwood(policy_host of) : m_rings(of.nodes()) {
        for (unsigned worker = 0; worker < of.workers(); ++worker) {
            m_of.push_back(&m_rings[of.node_of(worker)]);
        }
    }

    unsigned push(unsigned self, ready_item item) override {
        m_of[self]->push(*item.get());
        return self;
    }
    ready_item pop(unsigned self) override { return ready_item(m_of[self]->pop_youngest()); }
    bool take_back(unsigned self, ready_item item) override {
        return m_of[self]->remove(*item.get());
    }
    ready_list steal(unsigned victim, unsigned thief, const theft& what) override {
        // Another worker of the node would pop it.
        const bool is_shared = victim != thief && m_of[victim] == m_of[thief];
        return is_shared ? ready_list() : m_of[victim]->take_oldest(what.batch);
    }
    std::size_t size(unsigned) const override { return 0; }
    std::size_t shared_size() const override {
        std::size_t sum = 0;
        for (const ready_ring& each : m_rings) {
            sum += each.size();
        }
        return sum;
    }
    bool has_items(unsigned worker) const override { return !m_of[worker]->empty(); }

private:
    std::vector<ready_ring> m_rings;
    std::vector<ready_ring*> m_of;
};

/// Queues without stealing: all items are in the mailboxes. Any thread may push to them, and the
/// scheduler counts them among its own.
class in_mailboxes : public policy_queues {
public:
    explicit in_mailboxes(policy_host of) {
        for (unsigned worker = 0; worker < of.workers(); ++worker) {
            m_of.push_back(&of.pool().at(worker).mailbox());
        }
    }

    ready_item pop(unsigned self) override {
        return ready_item(m_of[self]->pop_above(detail::k_below_normal));
    }
    unsigned put_back(unsigned self, ready_item item) override {
        m_of[self]->push_first(*item.get());
        return self;
    }
    bool take_back(unsigned self, ready_item item) override {
        return m_of[self]->pop_if_first(*item.get());
    }
    std::size_t size(unsigned) const override { return 0; }
    bool has_items(unsigned) const override { return false; }

protected:
    std::vector<detail::ranked_queue*> m_of;
};

/// From Qthreads: new tasks go to all workers in turn.
class nemesis final : public in_mailboxes {
public:
    explicit nemesis(policy_host of) : in_mailboxes(of), m_host(of), m_turns(of.workers()) {
        for (unsigned worker = 0; worker < of.workers(); ++worker) {
            m_turns[worker].next = worker + 1;
        }
    }

    unsigned push(unsigned self, ready_item item) override {
        const unsigned next = m_turns[self].next++ % m_host.active_workers();
        m_of[next]->push(*item.get());
        return next;
    }

private:
    struct alignas(detail::k_cache_line) turn {
        unsigned next = 0;  ///< accessed only by its worker
    };
    policy_host m_host;
    std::vector<turn> m_turns;
};

/// As in HPX: a worker runs the tasks that it creates, unless a hint says otherwise.
class stay_put final : public in_mailboxes {
public:
    using in_mailboxes::in_mailboxes;

    unsigned push(unsigned self, ready_item item) override {
        m_of[self]->push(*item.get());
        return self;
    }
};

constexpr scheduling_policy k_rows[] = {
    // Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", 1999.
    {.name = "work-stealing",
     .summary = "youngest first on its own worker, oldest first to thieves (default)"},
    {.name = "priority-local-fifo",
     .summary = "oldest first; resumed tasks before new ones; thieves take new ones first",
     .make = make<priority_local_fifo>,
     .turns = 2},
    {.name = "priority-local-lifo",
     .summary =
         "youngest first; resumed tasks before new ones; thieves take new ones, oldest first",
     .make = make<priority_local_lifo>,
     .turns = 2},
    {.name = "sherwood",
     .summary =
         "youngest first, shared by the workers of a NUMA node; thieves take half, the oldest",
     .make = make<sherwood>},
    {.name = "nemesis",
     .summary = "new tasks to all workers in turn, oldest first; no stealing",
     .make = make<nemesis>,
     .steals = false},
    {.name = "static",
     .summary =
         "tasks stay with the worker that made them or their hint, oldest first; no stealing",
     .make = make<stay_put>,
     .steals = false},
};

}  // namespace

constinit detail::policy_table detail::g_policies(k_rows);

}  // namespace quern
