// SPDX-License-Identifier: BSL-1.0
// The protocol of the mutex: one word that identifies the owner, and a queue of waiters. The owner
// hands the mutex to the first in the queue; the word is never free while a waiter is queued. It
// neither sleeps nor wakes: it returns the waiter to wake.
// Protocol and proof: src/sync/README.md; explored in tests/model/mutex_test.cpp.
#pragma once

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstdint>
#include <mutex>
#include <stop_token>

namespace quern::detail {

template <class Atomics, class Waiter, class Lock>
class ownership {
public:
    bool try_take(std::uintptr_t holder) noexcept {
        std::uintptr_t expected = k_free;
        return m_word.compare_exchange_strong(expected, holder,
                                              std::memory_order_acquire,  // pairs with give_up
                                              std::memory_order_relaxed);
    }

    /// Gives ownership to `self`, or queues it; then it is the owner when woken. True: it is
    /// queued, and the caller must not touch this object before it is woken.
    bool enqueue(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        return take_or_queue(self);
    }

    /// For a wait with a deadline: if the waiter is late it is not queued but expired.
    bool enqueue_in_time(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (self.late) {
            self.expired = !try_take(self.holder);
            return false;
        }
        return take_or_queue(self);
    }

    /// Removes a waiter whose deadline has passed; the caller must wake it. False: it is the owner,
    /// or not queued yet and marked late.
    bool withdraw(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (!m_queue.withdraw(self)) {
            return false;
        }
        if (m_queue.looks_empty()) {
            const std::uintptr_t word = m_word.load(std::memory_order_relaxed);
            m_word.store(word & ~k_awaited, std::memory_order_relaxed);  // as in hand_over
        }
        return true;
    }

    /// Returns the next owner, which the caller must wake, or null. Without a next owner, the last
    /// access to this object frees the word.
    Waiter* give_up(std::uintptr_t holder) noexcept {
        std::uintptr_t expected = holder;
        if (m_word.compare_exchange_strong(expected, k_free,
                                           std::memory_order_release,  // pairs with try_take
                                           std::memory_order_relaxed)) [[likely]] {
            return nullptr;
        }
        return hand_over(holder, expected);
    }

    bool owned_by(std::uintptr_t holder) const noexcept {
        return (m_word.load(std::memory_order_relaxed) & ~k_awaited) == holder;
    }
    /// For reports: the holder, or 0.
    std::uintptr_t holder() const noexcept {
        return m_word.load(std::memory_order_relaxed) & ~k_awaited;
    }
    bool looks_free() const noexcept { return m_word.load(std::memory_order_relaxed) == k_free; }
    bool looks_awaited() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_awaited) != 0;
    }

    /// The longest waiter, or null. Without other users.
    const Waiter* first_waiter() const noexcept { return m_queue.front(); }

private:
    static constexpr std::uintptr_t k_free = 0;
    static constexpr std::uintptr_t k_awaited = 1;

    /// Called under the lock.
    bool take_or_queue(Waiter& self) noexcept {
        std::uintptr_t word = m_word.load(std::memory_order_relaxed);
        while ((word & k_awaited) == 0) {
            if (word == k_free) {
                if (try_take(self.holder)) {
                    return false;
                }
                word = m_word.load(std::memory_order_relaxed);
            } else if (m_word.compare_exchange_strong(word, word | k_awaited,
                                                      std::memory_order_relaxed,
                                                      std::memory_order_relaxed)) {
                break;
            }
        }
        m_queue.push(self);
        return true;
    }

    QUERN_COLD Waiter* hand_over(std::uintptr_t holder, std::uintptr_t word) noexcept {
        do {
            QUERN_ASSERT(word == (holder | k_awaited),
                         "a mutex is unlocked by a task or thread that does not hold it "
                         "(a coroutine that holds one across a co_await needs co_lock)");
            if (Waiter* next_owner = take_next_owner()) {
                return next_owner;
            }
            word = holder;  // all have withdrawn, and the bit is cleared
        } while (!m_word.compare_exchange_strong(word, k_free,
                                                 std::memory_order_release,  // pairs with try_take
                                                 std::memory_order_relaxed));
        return nullptr;
    }

    Waiter* take_next_owner() noexcept {
        const std::scoped_lock guard(m_lock);
        if (m_queue.looks_empty()) {
            return nullptr;
        }
        Waiter& next_owner = m_queue.pop();
        // A plain store suffices: with the bit set, only the owner of the spin lock changes the
        // word. relaxed: the wake-up makes the old owner's effects visible to the new one.
        m_word.store(next_owner.holder | (m_queue.looks_empty() ? 0 : k_awaited),
                     std::memory_order_relaxed);
        return &next_owner;
    }

    /// Free, or the holder; with k_awaited while a waiter is queued.
    /// Invariant: k_awaited is set if and only if the queue is not empty, while m_lock is free.
    typename Atomics::template atomic<std::uintptr_t> m_word{k_free};
    Lock m_lock;
    wait_queue<Atomics, Waiter> m_queue;
};

using task_ownership = ownership<std_atomics, claimant, spin_lock>;

/// Takes ownership for `me`, which does not have it; waits if necessary. The slow path of every
/// lock with this word. `why` is for reports.
QUERN_COLD void take_or_wait(task_ownership& wanted, std::uintptr_t me,
                             const wait_reason& why) noexcept;

/// As above, with a deadline or until a stop is requested. False: that came first.
QUERN_COLD bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me,
                                   const wait_reason& why,
                                   timer::clock::time_point deadline) noexcept;
QUERN_COLD bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me,
                                   const wait_reason& why, const std::stop_token& stop) noexcept;
QUERN_COLD bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me,
                                   const wait_reason& why, const stop_or_time& limit) noexcept;

}  // namespace quern::detail
