// SPDX-License-Identifier: BSL-1.0
// The contexts of a pool: the idle ones for which no worker has a use, and the list of all that
// were made.
#pragma once

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <atomic>

namespace quern::detail {

/// Thread safe, but for release_all().
class context_store {
public:
    /// A stack that a worker had no use for, or a fresh one.
    context& take(stack_class at_least, worker_stats& stats) noexcept;
    void give(context& idle) noexcept;
    context& make(const stack_span& span, worker_stats& stats) noexcept;

    /// The first of all that were made; context::made_before() gives the next.
    context* youngest() const noexcept {
        return m_youngest.load(std::memory_order_acquire);  // pairs with make
    }

    /// Frees the stacks of all idle ones. Requires: the workers have ended.
    void release_all() noexcept;

private:
    spin_lock m_lock;
    /// Idle ones, the last one the warmest. Linked through themselves: to give a stack back must
    /// need no memory.
    intrusive_list<context> m_idle[k_stack_class_count];
    std::atomic<context*> m_youngest{nullptr};
};

}  // namespace quern::detail
