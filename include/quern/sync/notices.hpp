// SPDX-License-Identifier: BSL-1.0
// The protocol of the condition variable: who waits for a notice and owns something again when it
// goes on. It neither sleeps nor wakes: it says whom the caller must wake. A notice moves the
// waiter to the queue of what it must own. Protocol and proof: src/sync/README.md; explored in
// tests/model/condition_variable_test.cpp.
#pragma once

#include <quern/sync/ownership.hpp>
#include <quern/sync/waiting.hpp>

#include <mutex>

namespace quern::detail {

/// Those who wait for a notice. A waiter has a member `taken`, an atomic bool: who sets it, a
/// notifier or the end of the waiter's limit, ends the wait. The limit sets it before it touches
/// this object, and a notifier that meets one whose limit has set it waits until it is out of the
/// queue. So when all have been notified nobody is here any more.
template <class Atomics, class Waiter, class Lock>
class notice_queue {
public:
    /// Enough for a notifier that has changed something under the mutex: whoever missed the change
    /// has been queued before it let go of the mutex. The lock is looked at for one who is leaving:
    /// the caller may be about to destroy this.
    bool looks_empty() const noexcept { return m_queue.looks_deserted() && !m_lock.is_held(); }

    /// False: it is late, and has expired now.
    bool push(Waiter& self) noexcept {
        const std::scoped_lock guard(m_lock);
        if (self.late) {
            self.expired = true;
            return false;
        }
        m_queue.push(self);
        return true;
    }

    /// Takes out the one that has waited longest, or null.
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
            // The first one is leaving by itself.
            for (Waiter* w = more; w != nullptr; w = next_of(*w)) {
                last = w;
            }
        }
    }

    /// Takes out one whose limit has passed. False: it has been notified, or is not queued yet and
    /// late.
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
        return !w.taken.exchange(true, std::memory_order_relaxed);  // the lock orders the rest
    }

    Lock m_lock;
    wait_queue<Atomics, Waiter> m_queue;
};

/// The same for waiters that have a member `wanted`, the ownership that they give up while they
/// wait.
template <class Atomics, class Waiter, class Lock>
class notices : public notice_queue<Atomics, Waiter, Lock> {
public:
    /// Queues `self` and gives up what it owns. Returns false if it is late: then it is not queued,
    /// and the caller must pass it on. `heir` is then one whom the caller must wake first, or null.
    /// If it is queued the caller must touch neither this object nor `self` again.
    template <class Heir>
    bool enqueue(Waiter& self, Heir*& heir) noexcept {
        const bool queued = this->push(self);
        // Whoever notifies `self` now queues it for what it still owns: it cannot be woken, nor
        // what it wants be destroyed, before it has given that up. It may be its own heir then.
        heir = self.wanted->give_up(self.holder);
        return queued;
    }

    /// For one that has been taken out. True: it owns what it wanted and the caller must wake it.
    /// False: it is queued for it and may be gone.
    static bool pass_on(Waiter& notified) noexcept { return !notified.wanted->enqueue(notified); }
};

}  // namespace quern::detail
