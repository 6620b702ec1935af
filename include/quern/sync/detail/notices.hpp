// SPDX-License-Identifier: BSL-1.0
// The protocol of the condition variable: waiters for a notice that own something again when they
// resume. It neither sleeps nor wakes: it returns the waiters to wake. A notice moves the waiter to
// the queue of what it must own. Protocol and proof: src/sync/README.md; explored in
// tests/model/condition_variable_test.cpp.
#pragma once

#include <quern/sync/detail/ownership.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <mutex>

namespace quern::detail {

/// The queue of waiters for a notice. A waiter has an atomic bool `taken`; the notifier or the
/// expired deadline that sets it ends the wait. The deadline sets it before it touches this object.
/// A notifier that finds it set by a deadline waits until that waiter has left the queue. So after
/// all waiters have been notified, no thread accesses this object.
template <class Atomics, class Waiter, class Lock>
class notice_queue {
public:
    /// Sufficient for a notifier that has changed the condition under the mutex: a waiter that
    /// missed the change was queued before it released the mutex. The lock is checked because of a
    /// withdrawing waiter: the caller may be about to destroy this object.
    bool looks_empty() const noexcept { return m_queue.looks_deserted() && !m_lock.is_held(); }

    /// False: the waiter is late and now expired.
    bool push(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (self.late) {
            self.expired = true;
            return false;
        }
        m_queue.push(self);
        return true;
    }

    /// Takes out the longest waiter, or returns null.
    Waiter* take_first() noexcept {
        for (int spins = 0;; Atomics::back_off(spins)) {
            const std::scoped_lock guard(m_lock);
            if (m_queue.looks_empty()) {
                return nullptr;
            }
            if (take(*m_queue.front())) {
                return &m_queue.pop();
            }
        }
    }

    /// Takes out all, as a chain.
    Waiter* take_all() noexcept {
        Waiter* all = nullptr;
        Waiter* last = nullptr;
        for (int spins = 0;; Atomics::back_off(spins)) {
            const std::scoped_lock guard(m_lock);
            Waiter* const more = m_queue.pop_while(take);
            if (last != nullptr) {
                last->next = more;
            } else {
                all = more;
            }
            if (m_queue.looks_empty()) {
                return all;
            }
            // The first one is withdrawing.
            for (Waiter* w = more; w != nullptr; w = next_of(*w)) {
                last = w;
            }
        }
    }

    /// The longest waiter, or null. Without other users.
    const Waiter* first_waiter() const noexcept { return m_queue.front(); }

    /// Removes a waiter whose deadline has passed. False: it has been notified, or is not queued
    /// yet and marked late.
    bool withdraw(Waiter& self) noexcept {
        if (!take(self)) {
            return false;
        }
        const std::scoped_lock guard(m_lock);
        return m_queue.withdraw(self);
    }

private:
    static Waiter* next_of(Waiter& w) noexcept { return static_cast<Waiter*>(w.next); }
    static bool take(Waiter& w) noexcept {
        return !w.taken.exchange(true,
                                 std::memory_order_relaxed);  // relaxed: the lock orders the rest
    }

    Lock m_lock;
    wait_queue<Atomics, Waiter> m_queue;
};

/// For waiters with a member `wanted`: the ownership that they give up during the wait.
template <class Atomics, class Waiter, class Lock>
class notices : public notice_queue<Atomics, Waiter, Lock> {
public:
    /// Queues `self` and gives up what it owns. False: it is late and not queued, and the caller
    /// must pass it on. The caller must wake `next_owner` first, unless it is null. If `self` was
    /// queued, the caller must not touch this object or `self` again.
    template <class NextOwner>
    bool enqueue(Waiter& self, NextOwner*& next_owner) noexcept {
        const bool queued = this->push(self);
        // A notifier that takes `self` now queues it for what it still owns. So `self` is not
        // woken, and what it wants is not destroyed, before this gives that up. `self` may then be
        // its own next owner.
        next_owner = self.wanted->give_up(self.holder);
        return queued;
    }

    /// For a waiter that has been taken out. True: it owns what it wanted and the caller must wake
    /// it.
    /// False: it is queued for that and may be destroyed.
    static bool pass_on(Waiter& notified) noexcept { return !notified.wanted->enqueue(notified); }
};

}  // namespace quern::detail
