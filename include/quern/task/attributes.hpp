// SPDX-License-Identifier: BSL-1.0
// How a task is to be started: launch policy, priority, stack, name, preferred worker or node,
// pool. Passed by value to async, post, dataflow and then.
#pragma once

#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/work.hpp>

#include <bit>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace quern {

/// When and where a task starts. As std::launch, with two of HPX's: a bitmask type. One that names
/// several policies leaves the choice to Quern, which takes the first of them in this order. One
/// that names none is refused with std::invalid_argument where a task is started by it.
///
///     auto f = quern::async(quern::launch::async | quern::launch::deferred, g);   // async
enum class launch : std::uint8_t {
    async = 1,     ///< queued; a worker takes it, or the first one that waits for it
    fork = 4,      ///< started at once in place of its creator, which goes on when a worker is free
    deferred = 2,  ///< run by the first one that waits for it, on its stack; queued by `then` and
                   ///< dataflow
    sync = 8,      ///< run at once, before the call returns
};

constexpr launch operator&(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr launch operator|(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr launch operator^(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
/// The policies that `a` does not name.
constexpr launch operator~(launch a) noexcept {
    return a ^ (launch::async | launch::fork | launch::deferred | launch::sync);
}
constexpr launch& operator&=(launch& a, launch b) noexcept { return a = a & b; }
constexpr launch& operator|=(launch& a, launch b) noexcept { return a = a | b; }
constexpr launch& operator^=(launch& a, launch b) noexcept { return a = a ^ b; }

/// What a task may ask for. Every field has a default:
///
///     auto f = quern::async({.name = "norm", .urgency = quern::priority::high}, norm, x);
struct task_attributes {
    launch how = launch::async;
    /// Shown by diagnosis and profile. Must outlive the task: usually a literal.
    const char* name = nullptr;
    priority urgency = priority::normal;
    /// The least stack that the task is started on. A recursion through the runtime needs none: it
    /// goes on on fresh stacks of that class.
    stack_class stack = stack_class::small;
    /// Rank of the worker to whose queue it goes, modulo their number, or -1. A hint: an idle
    /// worker may take it where the policy steals, and it is for tasks of normal priority alone.
    int worker = -1;
    /// NUMA node, to whose workers such tasks go in turn, or -1; a hint as the worker's, which is
    /// the stronger. A node where the pool has no worker counts modulo those where it has; in a
    /// pool of one node, or of workers that are not bound, the hint says nothing.
    int numa_node = -1;
    /// The pool that runs it; null means the creator's, outside the default runtime's first.
    detail::pool* pool = nullptr;
    /// An address in the code that makes the task, for reports. Null means where async, post and so
    /// on are called; a library may say where it was called itself.
    const void* site = nullptr;
    /// When its stop is requested before the task has begun, the task is dropped and its future
    /// holds task_cancelled; afterwards the task may look (this_task::stop_requested()).
    std::stop_token stop{};
};

namespace detail {

/// The policy that is used of those that are named. Throws std::invalid_argument.
constexpr launch one_of(launch named) {
    for (const launch each : {launch::async, launch::fork, launch::deferred, launch::sync}) {
        if ((named & each) == each) {
            return each;
        }
    }
    throw std::invalid_argument(
        "quern: a launch policy that names none of async, fork, deferred and sync");
}

/// The same, with one policy, and made at `site` unless they say where.
QUERN_ALWAYS_INLINE task_attributes made_at(const void* site, task_attributes wanted) {
    if (!std::has_single_bit(static_cast<unsigned>(wanted.how))) [[unlikely]] {
        wanted.how = one_of(wanted.how);
    }
    wanted.site = wanted.site != nullptr ? wanted.site : site;
    return wanted;
}

inline pool& pool_of(const task_attributes& wanted) {
    if (wanted.pool == nullptr) {
        return current_pool().get();
    }
    wanted.pool->require_not_inherited();
    return *wanted.pool;
}

inline void apply_attributes(const task_attributes& wanted, runnable& item) noexcept {
    item.name = wanted.name;
    item.urgency = wanted.urgency;
    item.stack = wanted.stack;
    item.home = wanted.worker >= 0      ? wanted.worker
                : wanted.numa_node >= 0 ? runnable::k_first_node + wanted.numa_node
                                        : runnable::k_anywhere;
    item.site = wanted.site;
}

/// While tasks run on the stack of one who waits for them, one after the other: what is known of
/// the one who waits is kept, and their records take its place. Does nothing outside a worker.
class lent_context {
public:
    QUERN_ALWAYS_INLINE lent_context() noexcept : m_here(current_context()) {
        if (m_here != nullptr) {
            m_outer = &m_here->root().task();
            m_urgency = m_here->urgency;
        }
    }
    lent_context(const lent_context&) = delete;
    lent_context& operator=(const lent_context&) = delete;
    QUERN_ALWAYS_INLINE ~lent_context() {
        if (m_here != nullptr) {
            m_here->root().set_task(*m_outer);
            m_here->urgency = m_urgency;
        }
    }

    bool is_on_worker() const noexcept { return m_here != nullptr; }

    /// A task begins, and has ended. Called in turns.
    QUERN_ALWAYS_INLINE void begin(const runnable& item) noexcept {
        if (m_here != nullptr) {
            // One by one: the compiler would load several of what has just been written at once,
            // and wait for the writes longer than the rest of a tiny task takes.
            auto* const inner = ::new (&m_inner) task_record;
            inner->name = item.name;
            inner->site = item.site;
            inner->entry = item.run;
            inner->outer = m_outer;
            m_here->root().set_task(m_inner);
            m_here->urgency = item.urgency;
            if (const hooks* const h = hooks_here()) [[unlikely]] {
                h->inline_begins(*h, m_here->host(), *m_outer, item);
            }
        }
    }
    QUERN_ALWAYS_INLINE void end() noexcept {
        if (m_here != nullptr) {
            m_inner.locals.destroy_all();
            if (const hooks* const h = hooks_here()) [[unlikely]] {
                h->inline_ends(*h, m_here->host(), *m_outer);
            }
        }
    }

private:
    const hooks* hooks_here() const noexcept {
        return m_here->host().home().hooks.load(std::memory_order_acquire);
    }

    context* m_here;
    task_record* m_outer = nullptr;
    priority m_urgency = priority::normal;
    union {
        task_record m_inner;  ///< from begin() on
    };
};

/// A larger context with the task as its first item.
QUERN_COLD inline context& begin_on_larger(runnable& item) noexcept {
    context& larger = current_context()->host().take_context(item.stack);
    larger.reopen_for_loop(&item);
    return larger;
}

/// For the beginning of a task's run function: lends the task's name, site and priority to the
/// context that runs it, or returns a larger context with the task as its first item when the
/// present one is too small.
QUERN_ALWAYS_INLINE context* begin_task(runnable& item) noexcept {
    context& here = *current_context();
    if (here.size() >= item.stack) [[likely]] {
        task_record& task = here.root().task();
        task.name = item.name;
        task.site = item.site;
        here.urgency = item.urgency;
        return nullptr;
    }
    return &begin_on_larger(item);
}

/// Stands around the making of a task.
class describing : own_work {
public:
    describing() noexcept : own_work(overhead_clock::part::making) {}
};

/// Stands around the call of a task's function, so that what is local to the task is destroyed
/// before anybody learns that it has ended. `own` is false for a call that is part of its caller.
class task_end {
public:
    explicit task_end(bool own) noexcept : m_own(own) {}
    task_end(const task_end&) = delete;
    task_end& operator=(const task_end&) = delete;
    ~task_end() {
        if (m_own) {
            end_task();
        }
    }

private:
    bool m_own;
};

}  // namespace detail
}  // namespace quern
