// SPDX-License-Identifier: BSL-1.0
// quern::unlock_guard, as in HPX: a scope in which a held lock is released.
#pragma once

namespace quern {

/// Unlocks a mutex, or a std::unique_lock that owns one. Locks it again at the end of the scope,
/// also on an exception.
///
///     std::unique_lock lock(m);
///     while (!queue.empty()) {
///         auto job = take_first(queue);
///         const quern::unlock_guard others_may(lock);
///         job();
///     }
///
/// Requires: the caller holds it. If lock() throws in the destructor, the program ends.
/// Thread safety and cost: those of the lock's unlock() and lock().
template <class Lock>
class [[nodiscard]] unlock_guard {
public:
    using mutex_type = Lock;

    explicit unlock_guard(Lock& held) : m_held(held) { m_held.unlock(); }
    unlock_guard(const unlock_guard&) = delete;
    unlock_guard& operator=(const unlock_guard&) = delete;
    ~unlock_guard() { m_held.lock(); }

private:
    Lock& m_held;
};

}  // namespace quern
