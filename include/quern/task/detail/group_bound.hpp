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
    std::int64_t queued() const noexcept {
        return number_in(m_state.load(std::memory_order_relaxed));
    }
    bool is_reached() const noexcept { return queued() >= std::int64_t{m_most}; }

    /// Before a task is put into a queue.
    void will_queue() noexcept { m_state.fetch_add(k_one, std::memory_order_relaxed); }

    /// A counted task begins. The caller must wake the returned waiter, if any. The group lives
    /// until the task has ended.
    Waiter* begins() noexcept {
        const std::int64_t now = m_state.fetch_sub(k_one, std::memory_order_relaxed) - k_one;
        if ((now & k_waits) == 0 || number_in(now) > enough()) {
            return nullptr;
        }
        // Of several tasks that come here, the one that clears the bit gets the waiter.
        // acquire: pairs with wait, so that the waiter's fields are visible.
        const std::int64_t before = m_state.fetch_and(~k_waits, std::memory_order_acquire);
        return (before & k_waits) != 0 ? m_waiter : nullptr;
    }

    /// Called by the owner. True: the task that reduces the number to half of the bound gets the
    /// waiter, which may have destroyed the group by now.
    /// False: that number is reached already, and no task gets the waiter. Call it only after the
    /// waiter has left its stack.
    bool wait(Waiter& waiter) noexcept {
        m_waiter = &waiter;
        std::int64_t seen = m_state.load(std::memory_order_relaxed);
        while (number_in(seen) > enough()) {
            // release: pairs with begins.
            if (m_state.compare_exchange_weak(seen, seen | k_waits, std::memory_order_release,
                                              std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

private:
    /// The state is twice the number of counted tasks, and 1 more while the owner waits: the owner
    /// must announce itself and see the number in one step, for afterwards the group may be gone.
    static constexpr std::int64_t k_waits = 1;
    static constexpr std::int64_t k_one = 2;

    static std::int64_t number_in(std::int64_t state) noexcept { return state >> 1; }
    std::int64_t enough() const noexcept { return m_most / 2; }

    const std::uint32_t m_most;
    typename Atomics::template atomic<std::int64_t> m_state{0};
    typename Atomics::template plain<Waiter*> m_waiter{nullptr};
};

}  // namespace quern::detail
