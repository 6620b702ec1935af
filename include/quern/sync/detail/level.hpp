// SPDX-License-Identifier: BSL-1.0
// A number and the waiters for it to reach a value: the phases of a barrier, the limit of a sliding
// semaphore, the generations of a trigger. Everything here is called under a lock of the primitive.
// It returns the waiters to wake after the lock is released.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstdint>
#include <mutex>
#include <stop_token>

namespace quern::detail {

struct level_waiter : waiter {
    explicit level_waiter(std::int64_t level) noexcept : needs(level) {}
    std::int64_t needs;  ///< constant while queued
};

class level {
public:
    constexpr explicit level(std::int64_t value) noexcept : m_value(value) {}

    std::int64_t value() const noexcept { return m_value; }
    bool reaches(std::int64_t needs) const noexcept { return needs <= m_value; }

    /// False: it is reached, or the waiter is late and now expired. True: `self` is queued and will
    /// be woken when it is.
    bool enqueue(level_waiter& self) noexcept {
        if (reaches(self.needs)) {
            return false;
        }
        if (self.late) {
            self.expired = true;
            return false;
        }
        m_queue.insert(
            self, [](const level_waiter& a, const level_waiter& b) { return a.needs < b.needs; });
        return true;
    }

    /// Removes a waiter that is asked to stop; the caller must wake it. False: it has been woken,
    /// or it is not queued yet and marked late.
    bool withdraw(level_waiter& self) noexcept { return m_queue.withdraw(self); }

    /// The waiter with the smallest need, or null.
    const level_waiter* first_waiter() const noexcept { return m_queue.front(); }

    /// Returns the waiters that need at most `value`, as a chain: ordered by need, then by arrival.
    level_waiter* set(std::int64_t value) noexcept {
        m_value = value;
        return m_queue.pop_while([this](const level_waiter& w) { return reaches(w.needs); });
    }

private:
    std::int64_t m_value;
    /// Invariant: ordered by need; all needs are above m_value.
    wait_queue<std_atomics, level_waiter> m_queue;
};

/// Waits until the level, which is guarded by `lock`, has reached `needs`. `why` is for reports.
template <class Lock>
void wait_for(level& what, std::int64_t needs, Lock& lock, const wait_reason& why) noexcept {
    {
        const std::scoped_lock guard(lock);
        if (what.reaches(needs)) {
            return;
        }
    }
    level_waiter self(needs);
    detail::wait_in(self, why, [&what, &lock, &self] {
        const std::scoped_lock guard(lock);
        return what.enqueue(self);
    });
}

/// The same until a stop is requested. False: it was, before the level was reached.
QUERN_COLD bool wait_for_until(level& what, std::int64_t needs, spin_lock& lock,
                               const wait_reason& why, const std::stop_token& stop) noexcept;

}  // namespace quern::detail
