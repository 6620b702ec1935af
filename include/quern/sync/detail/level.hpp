// SPDX-License-Identifier: BSL-1.0
// A number and the waiters for it to reach a value: the phases of a barrier, the limit of a sliding
// semaphore, the generations of a trigger. Everything here is called under a lock of the primitive.
// It returns the waiters to wake after the lock is released.
#pragma once

#include <quern/sync/detail/waiting.hpp>

#include <cstdint>
#include <mutex>

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

    /// False: it is reached. True: `self` is queued and will be woken when it is.
    bool enqueue(level_waiter& self) noexcept {
        if (reaches(self.needs)) {
            return false;
        }
        m_queue.insert(
            self, [](const level_waiter& a, const level_waiter& b) { return a.needs < b.needs; });
        return true;
    }

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

}  // namespace quern::detail
