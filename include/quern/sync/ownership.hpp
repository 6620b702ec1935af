// SPDX-License-Identifier: BSL-1.0
// The protocol of the mutex: one word that says who owns it, and a queue of those who want it.
// Ownership is handed to the first in the queue by the one who gives it up; the word is never free
// while somebody is queued. It neither sleeps nor wakes: it says whom the caller must wake.
// Protocol and proof: src/sync/README.md; explored in tests/model/mutex_test.cpp.
#pragma once

#include <quern/base/assert.hpp>
#include <quern/base/config.hpp>
#include <quern/base/spin_lock.hpp>
#include <quern/scheduler/timers.hpp>
#include <quern/sync/waiting.hpp>

#include <cstdint>
#include <mutex>

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

    /// Gives the thing to `self`, or queues it: then it owns the thing when it is woken. True: it
    /// is queued, and the caller must not touch this object again before that.
    bool enqueue(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        return take_or_queue(self);
    }

    /// The same for one that waits with a limit; if it is late it is not queued but expired.
    bool enqueue_in_time(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (self.late) {
            self.expired = !try_take(self.holder);
            return false;
        }
        return take_or_queue(self);
    }

    /// Takes one out of the queue whose limit has passed; the caller must wake it. False: it owns
    /// the thing, or is not queued yet and late.
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

    /// Returns the new owner, whom the caller must wake, or null. Without a new owner the last
    /// access to this object is the one that frees the word.
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

private:
    static constexpr std::uintptr_t k_free = 0;
    static constexpr std::uintptr_t k_awaited = 1;

    /// Under the lock.
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
            if (Waiter* heir = take_heir()) {
                return heir;
            }
            word = holder;  // all have withdrawn since, and the bit is gone
        } while (!m_word.compare_exchange_strong(word, k_free,
                                                 std::memory_order_release,  // pairs with try_take
                                                 std::memory_order_relaxed));
        return nullptr;
    }

    Waiter* take_heir() noexcept {
        const std::scoped_lock guard(m_lock);
        if (m_queue.looks_empty()) {
            return nullptr;
        }
        Waiter& heir = m_queue.pop();
        // A plain store will do: with the bit set, only who holds the lock changes the word.
        // relaxed: what the old owner did reaches the new one by way of the wake-up.
        m_word.store(heir.holder | (m_queue.looks_empty() ? 0 : k_awaited),
                     std::memory_order_relaxed);
        return &heir;
    }

    /// Free, or the holder; with k_awaited when somebody is queued.
    /// Invariant: k_awaited is set if and only if the queue is not empty, while m_lock is free.
    typename Atomics::template atomic<std::uintptr_t> m_word{k_free};
    Lock m_lock;
    wait_queue<Atomics, Waiter> m_queue;
};

using task_ownership = ownership<std_atomics, claimant, spin_lock>;

/// Takes it for `me`, who does not own it; waits if it must: the slow path of every lock whose word
/// this is. `why` is for reports.
QUERN_COLD void take_or_wait(task_ownership& wanted, std::uintptr_t me,
                             const wait_reason& why) noexcept;

/// The same until a time at the latest. False: it has passed.
QUERN_COLD bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me,
                                   const wait_reason& why,
                                   timer::clock::time_point deadline) noexcept;

}  // namespace quern::detail
