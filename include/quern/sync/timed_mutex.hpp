// SPDX-License-Identifier: BSL-1.0
// The mutexes with timeouts: quern::timed_mutex, recursive_timed_mutex and shared_timed_mutex, as
// in the standard. Each is the mutex without `timed` in its name, with more members. Users that set
// no deadline pay nothing.
#pragma once

#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/shared_mutex.hpp>

#include <chrono>
#include <stop_token>

namespace quern {

namespace detail {

/// Adds try_lock_until and try_lock_for to a mutex that has lock_until(deadline of the steady
/// clock) and lock_until(stop_or_time).
template <class Mutex>
class with_limit : public Mutex {
public:
    /// lock() with a deadline; for a shared mutex as a writer. If it has passed already, as
    /// try_lock(). Throws what lock() throws.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(when,
                                     [this](auto deadline) { return this->lock_until(deadline); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
        return try_lock_until(detail::due_after(time));
    }

    /// The same until `stop` is requested too, see event::wait_until(stop, when).
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::stop_token& stop,
                                      const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(stop, when,
                                     [this](const auto& limit) { return this->lock_until(limit); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::stop_token& stop,
                                    const std::chrono::duration<Rep, Period>& time) {
        return try_lock_until(stop, detail::due_after(time));
    }
};

}  // namespace detail

/// A quern::mutex whose lock can time out.
///
///     quern::timed_mutex m;
///     std::unique_lock lock(m, std::chrono::milliseconds(10));
///     if (!lock) return busy;
///
/// Waiters with a deadline are in the same queue. When the deadline passes, the waiter leaves the
/// queue without the mutex; if the mutex is handed to it at that moment, it has locked it. Any
/// clock; if it is set back the wait gets longer.
/// Thread safety: any thread. Cost: that of lock() if it is free; else also a timer, and a timeout
/// one step per waiter queued before it.
class timed_mutex : public detail::with_limit<mutex> {};

/// A quern::recursive_mutex whose lock can time out, as a timed_mutex. Its holder locks it again at
/// once.
class recursive_timed_mutex : public detail::with_limit<recursive_mutex> {};

/// A quern::shared_mutex whose lock can time out, as a timed_mutex. If readers hold it, a writer
/// that times out admits the readers behind it.
class shared_timed_mutex : public detail::with_limit<shared_mutex> {
public:
    /// lock_shared() with a deadline.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(
            when, [this](auto deadline) { return lock_as_until(true, deadline); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& time) {
        return try_lock_shared_until(detail::due_after(time));
    }

    /// The same until `stop` is requested too.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::stop_token& stop,
                                             const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(
            stop, when, [this](const auto& limit) { return this->lock_as_until(true, limit); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(const std::stop_token& stop,
                                           const std::chrono::duration<Rep, Period>& time) {
        return try_lock_shared_until(stop, detail::due_after(time));
    }
};

}  // namespace quern
