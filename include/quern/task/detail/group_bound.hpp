// SPDX-License-Identifier: BSL-1.0
// The bound of a task_group when it is counted: the number of its tasks that are queued and have
// not begun, and the owner that waits while there are too many. Used where the owner cannot read
// this from its own deque. Proof sketch: src/task/README.md, section "Group bound"; explored in
// tests/model/group_bound_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::detail {

template <class Atomics, class Waiter>
class group_bound {
public:
    /// 0: no bound.
    explicit group_bound(std::uint32_t most) noexcept : m_most(most) {}

    bool exists() const noexcept { return m_most != 0; }
    std::uint32_t most() const noexcept { return m_most; }

    /// The number of counted tasks. Also valid on a copy.
    std::int64_t queued() const noexcept { return m_queued.load(std::memory_order_relaxed); }
    bool is_reached() const noexcept { return queued() >= std::int64_t{m_most}; }

    /// Before a task is put into a queue.
    void will_queue() noexcept { m_queued.fetch_add(1, std::memory_order_relaxed); }

    /// A counted task begins. The caller must wake the returned waiter, if any. The group lives
    /// until the task has ended.
    Waiter* begins() noexcept {
        // seq_cst: pairs with wait; this thread then reads the waiter, the waiter stores and then
        // reads this.
        const std::int64_t left = m_queued.fetch_sub(1, std::memory_order_seq_cst) - 1;
        const bool may_wake =
            left <= enough() && m_waiter.load(std::memory_order_seq_cst) != nullptr;
        // acquire: pairs with wait, so that the waiter's fields are visible.
        return may_wake ? m_waiter.exchange(nullptr, std::memory_order_acq_rel) : nullptr;
    }

    /// Called by the owner. True: the task that reduces the number to half of the bound gets the
    /// waiter.
    /// False: that number is reached already, and no task gets the waiter. Call it only after the
    /// waiter has left its stack.
    bool wait(Waiter& waiter) noexcept {
        m_waiter.store(&waiter, std::memory_order_seq_cst);
        return m_queued.load(std::memory_order_seq_cst) > enough() ||
               m_waiter.exchange(nullptr, std::memory_order_acq_rel) == nullptr;
    }

private:
    std::int64_t enough() const noexcept { return m_most / 2; }

    const std::uint32_t m_most;
    typename Atomics::template atomic<std::int64_t> m_queued{0};
    typename Atomics::template atomic<Waiter*> m_waiter{nullptr};
};

}  // namespace quern::detail
