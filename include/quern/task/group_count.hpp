// SPDX-License-Identifier: BSL-1.0
// How many tasks of a group are outstanding. The owner (the task that made the group) counts
// what it spawns, and what it runs itself, in a plain number; everybody else in an atomic one that
// starts at a bias, so that it cannot come to zero before the owner has added its own number. So a
// group of which nothing was stolen never executes a read-modify-write. Proof sketch:
// src/task/README.md, section "Group count"; explored in tests/model/group_count_test.cpp.
#pragma once

#include <quern/base/atomics.hpp>
#include <quern/base/cache_line.hpp>

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

    /// Adds the owner's number. False: all was done already, nobody will resume the waiter.
    /// True: the one who finishes the last task gets the waiter. Call it only after the waiter
    /// has left its stack. Until reset() the owner may not spawn.
    bool wait(Waiter& waiter) noexcept {
        m_waiter = &waiter;
        const std::int64_t added = m_local - k_bias;
        // acq_rel: release publishes the waiter; acquire pairs with finished.
        return m_shared.fetch_add(added, std::memory_order_acq_rel) + added != 0;
    }

    /// How many have not ended, once the owner waits. Also for a copy.
    std::int64_t outstanding() const noexcept { return m_shared.load(std::memory_order_relaxed); }

    /// All is done: begins again.
    void reset() noexcept {
        m_local = 0;
        m_waiter = nullptr;
        m_shared.store(k_bias, std::memory_order_relaxed);
    }

    // -- anybody else --------------------------------------------------------------------------

    /// Before the task is made ready, by a task of the group (so the count is not zero now).
    void spawned() noexcept { m_shared.fetch_add(1, std::memory_order_relaxed); }

    /// The task has ended. Returns the waiter if it was the last one and somebody waits; the group
    /// may be gone as soon as that waiter runs, and otherwise when this returns.
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

    // Each side has a cache line of its own, and what stands beside the count has another one.
    alignas(k_cache_line) typename Atomics::template plain<std::int64_t> m_local = 0;
    typename Atomics::template plain<Waiter*> m_waiter = nullptr;
    alignas(k_cache_line) typename Atomics::template atomic<std::int64_t> m_shared{k_bias};
};

}  // namespace quern::detail
