// SPDX-License-Identifier: BSL-1.0
// quern::unlock_guard: HPX's: a scope in which a lock that is held is not.
#pragma once

namespace quern {

/// Unlocks what it is given, a mutex or a std::unique_lock that owns one, and locks it again at the
/// end of the scope, also when an exception leaves it.
///
///     std::unique_lock lock(m);
///     while (!queue.empty()) {
///         auto job = take_first(queue);
///         const quern::unlock_guard others_may(lock);
///         job();
///     }
///
/// Requires: the caller holds it. A lock() that throws in the destructor ends the program.
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
