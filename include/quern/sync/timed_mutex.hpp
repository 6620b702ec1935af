// SPDX-License-Identifier: BSL-1.0
// The mutexes whose locking has a limit: quern::timed_mutex, recursive_timed_mutex and
// shared_timed_mutex, after those of the standard. Each is the mutex without `timed` in its name,
// with more members: the limit costs those nothing that do not set it.
#pragma once

#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/shared_mutex.hpp>

#include <chrono>

namespace quern {

namespace detail {

/// A mutex with try_lock_until and try_lock_for, made of its lock_until(deadline of the steady
/// clock).
template <class Mutex>
class with_limit : public Mutex {
public:
    /// Locks it unless the time passes before; as a writer, if it is a shared mutex. A time that
    /// has passed makes it try_lock(). Throws what lock() throws.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(when,
                                     [this](auto deadline) { return this->lock_until(deadline); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
        return try_lock_until(detail::due_after(time));
    }
};

}  // namespace detail

/// A quern::mutex that can be waited for until a time.
///
///     quern::timed_mutex m;
///     std::unique_lock lock(m, std::chrono::milliseconds(10));
///     if (!lock) return busy;
///
/// Who waits with a limit stands in the same queue. When the time has passed it leaves the queue,
/// and has not locked; a mutex that is handed to it just then it has locked. With any clock: one
/// that is set back makes the wait longer.
/// Thread safety: any thread. Cost: that of lock() if it is free; else also a timer, and to leave
/// the queue a step for each that waits before it.
class timed_mutex : public detail::with_limit<mutex> {};

/// A quern::recursive_mutex that can be waited for until a time, as a timed_mutex. Its holder locks
/// it again at once.
class recursive_timed_mutex : public detail::with_limit<recursive_mutex> {};

/// A quern::shared_mutex that can be waited for until a time, as a timed_mutex. A writer that
/// leaves the queue lets the readers behind it go on if readers hold it.
class shared_timed_mutex : public detail::with_limit<shared_mutex> {
public:
    /// Locks it as a reader unless the time passes before.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(
            when, [this](auto deadline) { return lock_as_until(true, deadline); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
        return try_lock_shared_until(detail::due_after(time));
    }
};

}  // namespace quern
