// SPDX-License-Identifier: BSL-1.0
// quern::recursive_mutex: std::recursive_mutex for tasks and outside threads. The word and the
// queue of quern::mutex, and a depth that only the holder touches.
#pragma once

#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/detail/ownership.hpp>

#include <cstddef>
#include <stop_token>

namespace quern {

/// A mutex that its holder may lock again; it is free after as many unlock() as lock() calls.
///
///     quern::recursive_mutex m;
///     void visit(node& n) {
///         std::scoped_lock lock(m);
///         for (node& child : n.children) visit(child);
///     }
///
/// Otherwise as quern::mutex: fair, may be held across suspensions, any thread, destroyed when free
/// without waiters. The holder is the task. A task that the holder waits for does not hold it, so a
/// holder must not fork_join or get() code that locks it too.
/// Cost without contention: as quern::mutex; relocking is a load.
class recursive_mutex {
public:
    constexpr recursive_mutex() noexcept = default;
    recursive_mutex(const recursive_mutex&) = delete;
    recursive_mutex& operator=(const recursive_mutex&) = delete;
    ~recursive_mutex() { detail::refuse_if_awaited(m_owner.first_waiter(), "a recursive_mutex"); }

    void lock() noexcept {
        const std::uintptr_t me = detail::this_holder();
        if (m_owner.owned_by(me)) {
            ++m_again;
        } else if (!m_owner.try_take(me)) [[unlikely]] {
            wait_for_it(me);
        }
        detail::note_locked();
    }

    /// As lock(), until `stop` is requested: false if that comes first. See event::wait(stop).
    [[nodiscard]] bool lock(const std::stop_token& stop) noexcept;

    /// False if another task or thread holds it. Does not fail spuriously.
    [[nodiscard]] bool try_lock() noexcept {
        const std::uintptr_t me = detail::this_holder();
        if (m_owner.owned_by(me)) {
            ++m_again;
            detail::note_locked();
            return true;
        }
        return detail::note_if_locked(m_owner.try_take(me));
    }

    /// Requires: the caller holds it; the program is aborted otherwise.
    void unlock() noexcept {
        const std::uintptr_t me = detail::this_holder();
        QUERN_ASSERT(m_owner.owned_by(me),
                     "a recursive mutex is unlocked by a task or thread that does not hold it");
        detail::note_unlocked();
        if (m_again != 0) {
            --m_again;
        } else if (detail::waiter* next_owner = m_owner.give_up(me)) [[unlikely]] {
            next_owner->wake();
        }
    }

protected:
    QUERN_COLD bool lock_until(detail::timer::clock::time_point deadline) noexcept;
    QUERN_COLD bool lock_until(const detail::stop_or_time& limit) noexcept;

private:
    static const detail::wait_kind k_wait;
    static void look(const void* copy, detail::wait_findings& into) noexcept;
    QUERN_COLD void wait_for_it(std::uintptr_t me) noexcept;
    template <class Limit>
    bool lock_within(const Limit& limit) noexcept;

    detail::task_ownership m_owner;
    /// Number of nested locks beyond the first. Invariant: 0 while it is free.
    std::size_t m_again = 0;
};

}  // namespace quern
