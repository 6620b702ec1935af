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

/// A waiter has a member `wanted`, the ownership that it gives up while it waits.
template <class Atomics, class Waiter, class Lock>
class notices {
public:
    /// As wait_queue::looks_empty. Enough for a notifier that has changed something under the
    /// mutex: whoever missed the change has been queued before it let go of the mutex.
    bool looks_empty() const noexcept { return m_queue.looks_empty(); }

    /// Queues `self` and gives up what it owns. Returns the heir, whom the caller must wake, or
    /// null. The caller must touch neither this object nor `self` again.
    auto* enqueue(Waiter& self) noexcept {
        {
            const std::scoped_lock guard(m_lock);
            m_queue.push(self);
        }
        // Whoever notifies `self` now queues it for what it still owns: it cannot be woken, nor
        // what it wants be destroyed, before it has given that up. It may be its own heir then.
        return self.wanted->give_up(self.holder);
    }

    /// Takes out the one that has waited longest, or null; the caller passes it on.
    Waiter* take_first() noexcept {
        const std::scoped_lock guard(m_lock);
        return m_queue.looks_empty() ? nullptr : &m_queue.pop();
    }

    /// Takes out all, as a chain; the caller passes each on.
    Waiter* take_all() noexcept {
        const std::scoped_lock guard(m_lock);
        return m_queue.take_all();
    }

    /// True: `notified` owns what it wanted and the caller must wake it. False: it is queued for it
    /// and may be gone.
    static bool pass_on(Waiter& notified) noexcept { return !notified.wanted->enqueue(notified); }

private:
    Lock m_lock;
    wait_queue<Atomics, Waiter> m_queue;
};

}  // namespace quern::detail
