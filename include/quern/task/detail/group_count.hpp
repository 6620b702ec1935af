// SPDX-License-Identifier: BSL-1.0
// The number of outstanding tasks of a group. The owner (the task that made the group) counts the
// tasks that it spawns and runs itself in a plain number. Other threads use an atomic number that
// starts at a bias, so that it cannot reach zero before the owner has added its own. So a group
// without stolen tasks never executes a read-modify-write. Proof sketch: src/task/README.md,
// section "Group count"; explored in tests/model/group_count_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/cache_line.hpp>

#include <cstdint>

namespace quern::detail {

template <class Atomics, class Waiter>
class group_count {
public:
    // -- owner ---------------------------------------------------------------------------------

    void owner_spawned() noexcept { m_local = m_local + 1; }
    void owner_finished() noexcept { m_local = m_local - 1; }

    /// True: nothing is outstanding. False: the owner must wait().
    bool owner_done() const noexcept {
        return m_local == 0 && m_shared.load(std::memory_order_acquire) == k_bias;
    }

    /// Adds the owner's number. False: all tasks have ended, the waiter will not be resumed.
    /// True: the thread that finishes the last task gets the waiter. Call it only after the waiter
    /// has left its stack. The owner must not spawn until reset().
    bool wait(Waiter& waiter) noexcept {
        m_waiter = &waiter;
        const std::int64_t added = m_local - k_bias;
        // acq_rel: release publishes the waiter; acquire pairs with finished.
        return m_shared.fetch_add(added, std::memory_order_acq_rel) + added != 0;
    }

    /// The number of unfinished tasks, once the owner waits. Also valid on a copy.
    std::int64_t outstanding() const noexcept { return m_shared.load(std::memory_order_relaxed); }

    /// All tasks have ended: restarts.
    void reset() noexcept {
        m_local = 0;
        m_waiter = nullptr;
        m_shared.store(k_bias, std::memory_order_relaxed);
    }

    // -- other threads --------------------------------------------------------------------------

    /// Called by a task of the group before the new task is made ready, so the count is not zero.
    void spawned() noexcept { m_shared.fetch_add(1, std::memory_order_relaxed); }

    /// A task has ended. Returns the waiter if it was the last one and the owner waits. The group
    /// may be destroyed as soon as that waiter runs, else when this returns.
    Waiter* finished() noexcept {
        // acq_rel: release makes the task's effects visible to the owner; acquire reads the waiter.
        if (m_shared.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return nullptr;
        }
        return m_waiter;
    }

private:
    /// More than any number of tasks that can exist.
    static constexpr std::int64_t k_bias = std::int64_t{1} << 48;

    // Each side has a cache line of its own, separate from the members around the count.
    alignas(k_cache_line) typename Atomics::template plain<std::int64_t> m_local = 0;
    typename Atomics::template plain<Waiter*> m_waiter = nullptr;
    alignas(k_cache_line) typename Atomics::template atomic<std::int64_t> m_shared{k_bias};
};

}  // namespace quern::detail
