// SPDX-License-Identifier: BSL-1.0
// How a task is to be started: launch policy, priority, stack, name, preferred worker or node,
// pool. Passed by value to async, post, dataflow and then.
#pragma once

#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/work.hpp>

#include <cstdint>
#include <stop_token>
#include <utility>

namespace quern {

/// When and where a task starts. As std::launch, with two of HPX's.
enum class launch : std::uint8_t {
    async,     ///< queued; a worker takes it, or the first one that waits for it
    fork,      ///< started at once in place of its creator, which goes on when a worker is free
    deferred,  ///< run by the first one that waits for it, on its stack; queued by `then` and
               ///< dataflow
    sync,      ///< run at once, before the call returns
};

/// What a task may ask for. Every field has a default:
///
///     auto f = quern::async({.name = "norm", .urgency = quern::priority::high}, norm, x);
struct task_attributes {
    launch how = launch::async;
    /// Shown by diagnosis and profile. Must outlive the task: usually a literal.
    const char* name = nullptr;
    priority urgency = priority::normal;
    /// The least stack that the task is started on.
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

/// The same, and made at `site` unless they say where.
QUERN_ALWAYS_INLINE task_attributes made_at(const void* site, task_attributes wanted) noexcept {
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

/// While a task runs on the stack of one who waits for it: keeps what is known of the one who
/// waits, and gives it back. Does nothing outside a worker.
class lent_context {
public:
    explicit lent_context(const runnable& item) noexcept : m_here(current_context()) {
        if (m_here != nullptr) {
            task_record& task = m_here->root().task;
            m_record = task;
            task.restart(item.name, item.site, item.run);
            task.outer = &m_record;
            m_urgency = std::exchange(m_here->urgency, item.urgency);
            worker& host = m_here->host();
            if (const hooks* h = host.home().hooks.load(std::memory_order_acquire)) {
                h->inline_begins(*h, host, m_record, item);
            }
        }
    }
    lent_context(const lent_context&) = delete;
    lent_context& operator=(const lent_context&) = delete;
    ~lent_context() {
        if (m_here != nullptr) {
            context& root = m_here->root();
            root.task.locals.destroy_all();
            worker& host = m_here->host();
            if (const hooks* h = host.home().hooks.load(std::memory_order_acquire)) {
                h->inline_ends(*h, host, m_record);
            }
            root.task = m_record;
            m_here->urgency = m_urgency;
        }
    }

private:
    context* m_here;
    task_record m_record;
    priority m_urgency = priority::normal;
};

/// For the beginning of a task's run function: lends the task's name, site and priority to the
/// context that runs it, or returns a larger context with the task as its first item when the
/// present one is too small.
inline context* begin_task(runnable& item) noexcept {
    context& here = *current_context();
    if (here.size() >= item.stack) [[likely]] {
        task_record& task = here.root().task;
        task.name = item.name;
        task.site = item.site;
        here.urgency = item.urgency;
        return nullptr;
    }
    context& larger = here.host().take_context(item.stack);
    larger.reopen_for_loop(&item);
    return &larger;
}

/// Stands around the making of a task. What that takes is the runtime's work, though it happens in
/// a task: those who record count it so. A branch when nobody does.
class describing {
public:
    describing() noexcept {
        if (worker* const here = current_worker()) {
            m_hooks = here->home().hooks.load(std::memory_order_acquire);
            if (m_hooks != nullptr) [[unlikely]] {
                begin(*here);
            }
        }
    }
    describing(const describing&) = delete;
    describing& operator=(const describing&) = delete;
    ~describing() { end(); }

    /// What follows is not part of it: a call of the task's function.
    void end() noexcept {
        if (m_hooks == nullptr) [[likely]] {
            return;
        }
        worker* const here = current_worker();
        if (here != nullptr && here->home().hooks.load(std::memory_order_acquire) == m_hooks) {
            m_hooks->described(*m_hooks, *here, ticks() - m_begin);
        }
        m_hooks = nullptr;
    }
    /// The same for a task that is perhaps begun at once.
    void end_before_call(launch how) noexcept {
        if (how == launch::sync || how == launch::fork) {
            end();
        }
    }

private:
    void begin(worker& here) noexcept {
        if (m_hooks->times_making(*m_hooks, here)) {
            m_begin = ticks();
        } else {
            m_hooks = nullptr;
        }
    }

    const hooks* m_hooks = nullptr;
    tick_count m_begin = 0;
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
