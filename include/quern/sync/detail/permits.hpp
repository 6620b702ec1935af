// SPDX-License-Identifier: BSL-1.0
// The protocol of the semaphore: a count of permits, negative if there are more requests than
// permits, and a queue of waiters. It neither sleeps nor wakes: it returns the waiters to wake.
// Protocol and proof: src/sync/README.md; explored in tests/model/semaphore_test.cpp.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>

namespace quern::detail {

template <class Atomics, class Waiter, class Lock>
class permits {
public:
    constexpr explicit permits(std::ptrdiff_t count) noexcept : m_count(count) {}

    /// True: the caller has a permit. False: it has a claim on one and must call enqueue() for it.
    bool take() noexcept {
        return m_count.fetch_sub(1, std::memory_order_acquire) > 0;  // pairs with give
    }

    /// Takes a permit if there is one.
    bool try_take() noexcept {
        std::ptrdiff_t count = m_count.load(std::memory_order_relaxed);
        while (count > 0) {
            if (m_count.compare_exchange_weak(count, count - 1,
                                              std::memory_order_acquire,  // pairs with give
                                              std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// After take() has failed. False: the permit has arrived meanwhile. True: `self` is queued and
    /// has the permit when woken; the caller must not touch this object before that.
    bool enqueue(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (m_early != 0) {
            m_early = m_early - 1;
            return false;
        }
        if (self.late && take_back_claim()) {
            self.expired = true;
            return false;
        }
        m_queue.push(self);
        return true;
    }

    /// Removes a waiter whose deadline has passed, and its claim; the caller must wake it. False:
    /// it has a permit or is about to get one, or it is not queued yet and marked late.
    bool withdraw(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        return m_queue.withdraw_if(self, [this] { return take_back_claim(); });
    }

    /// The result of give().
    struct gift {
        std::ptrdiff_t before;  ///< the count before
        Waiter* next_owners;    ///< the waiters to wake, as a chain
    };

    /// Requires: n >= 0.
    gift give(std::ptrdiff_t n) noexcept {
        const std::ptrdiff_t before =
            m_count.fetch_add(n, std::memory_order_release);  // pairs with take and try_take
        const bool any_waits = before < 0 && n > 0;
        return {before, any_waits ? hand_over(std::min(n, -before)) : nullptr};
    }

    /// The longest waiter, or null. Without other users.
    const Waiter* first_waiter() const noexcept { return m_queue.front(); }

    /// For reports: the free permits; if negative, the unserved claims.
    std::ptrdiff_t count() const noexcept { return m_count.load(std::memory_order_relaxed); }

private:
    /// False: releases have counted every claim, and each gets its permit.
    bool take_back_claim() noexcept {
        std::ptrdiff_t count = m_count.load(std::memory_order_relaxed);
        while (count < 0) {
            if (m_count.compare_exchange_weak(count, count + 1, std::memory_order_relaxed,
                                              std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// Gives one permit each to the first `n` claims.
    Waiter* hand_over(std::ptrdiff_t n) noexcept {
        const std::scoped_lock guard(m_lock);
        Waiter* first = nullptr;
        Waiter* last = nullptr;
        for (; n != 0 && !m_queue.looks_empty(); --n) {
            Waiter& next_owner = m_queue.pop();
            next_owner.next = nullptr;
            if (last != nullptr) {
                last->next = &next_owner;
            } else {
                first = &next_owner;
            }
            last = &next_owner;
        }
        m_early = m_early + n;  // these have claims but are not queued yet
        return first;
    }

    /// Free permits; if negative, claims without a permit.
    typename Atomics::template atomic<std::ptrdiff_t> m_count;
    Lock m_lock;
    /// Permits given to claims that are not queued yet.
    /// Invariant: 0 while the queue is not empty.
    typename Atomics::template plain<std::ptrdiff_t> m_early{0};
    wait_queue<Atomics, Waiter> m_queue;
};

}  // namespace quern::detail
