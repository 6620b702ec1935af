// SPDX-License-Identifier: BSL-1.0
// quern::condition_variable: std::condition_variable for tasks and outside threads.
#pragma once

#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/sync/detail/notices.hpp>
#include <quern/sync/mutex.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>  // cv_status
#include <mutex>
#include <stop_token>
#include <utility>

namespace quern {

namespace detail {

/// Waits for a notice, and then for the mutex that it must own when it resumes.
struct notice_waiter : claimant {
    notice_waiter(std::uintptr_t who, task_ownership& o) noexcept : claimant(who), wanted(&o) {}
    task_ownership* const wanted;
    std::atomic<bool> taken{false};
};

using notice_board = notices<std_atomics, notice_waiter, spin_lock>;

}  // namespace detail

/// Lets tasks wait for changes of data guarded by a quern::mutex.
///
///     std::unique_lock lock(m);
///     changed.wait(lock, [&] { return !queue.empty(); });
///
/// A notified task does not run to contend for the mutex. It is given the mutex, or put at the end
/// of its queue, and runs when it owns it. So notify_all() of many tasks wakes them one after
/// another. Notification is FIFO. There are no spurious wake-ups, but another task may change the
/// condition again before the notified one owns the mutex.
///
/// May be destroyed as soon as all waiters have been notified, even if they have not returned from
/// wait(), or notify_*() has not returned to a caller whose notification they have observed;
/// earlier the program is aborted. Thread safety: any thread. Cost: a notification without waiters
/// is two loads.
class condition_variable {
public:
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable&) = delete;
    condition_variable& operator=(const condition_variable&) = delete;
    ~condition_variable() {
        detail::refuse_if_awaited(m_notices.first_waiter(), "a condition_variable");
    }

    /// Unlocks, waits for a notification, and locks again.
    /// Requires: the caller holds the lock; the program is aborted otherwise.
    void wait(std::unique_lock<mutex>& lock) noexcept;

    /// Waits until `ready()` returns true. `ready` is called with the lock held.
    template <class Predicate>
    void wait(std::unique_lock<mutex>& lock, Predicate ready) {
        while (!ready()) {
            wait(lock);
        }
    }

    /// As above, or until `stop` is requested. Returns the last result of `ready()`. See
    /// event::wait(stop).
    template <class Predicate>
    bool wait(std::unique_lock<mutex>& lock, const std::stop_token& stop, Predicate ready) {
        while (!stop.stop_requested()) {
            if (ready()) {
                return true;
            }
            wait_until_stopped(lock, stop);
        }
        return ready();
    }

    /// wait() with a deadline: std::cv_status::timeout if it passes first. The lock is held again
    /// then too, which may require waiting for it. Cost: as wait(), and a timer.
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& lock,
                              const std::chrono::time_point<Clock, Duration>& when) {
        // One wait: if the clock is set back it may end early, as in the standard.
        const auto now = Clock::now();
        const bool noticed = wait_until_steady(
            lock, when > now ? detail::due_after(when - now) : detail::timer::clock::now());
        return noticed || Clock::now() < when ? std::cv_status::no_timeout
                                              : std::cv_status::timeout;
    }
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex>& lock,
                            const std::chrono::duration<Rep, Period>& time) {
        return wait_until(lock, detail::due_after(time));
    }

    /// Repeats until `ready()` returns true or the deadline passes. Returns the last result of
    /// `ready()`.
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& lock,
                    const std::chrono::time_point<Clock, Duration>& when, Predicate ready) {
        while (!ready()) {
            if (wait_until(lock, when) == std::cv_status::timeout) {
                return ready();
            }
        }
        return true;
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                  Predicate ready) {
        return wait_until(lock, detail::due_after(time), std::move(ready));
    }

    /// As above, or until `stop` is requested.
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& lock, const std::stop_token& stop,
                    const std::chrono::time_point<Clock, Duration>& when, Predicate ready) {
        while (!stop.stop_requested()) {
            if (ready()) {
                return true;
            }
            const bool is_over = !detail::wait_on_clock(
                stop, when, [&](const auto& limit) { return wait_until_either(lock, limit); });
            if (is_over) {
                break;
            }
        }
        return ready();
    }
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& lock, const std::stop_token& stop,
                  const std::chrono::duration<Rep, Period>& time, Predicate ready) {
        return wait_until(lock, stop, detail::due_after(time), std::move(ready));
    }

    /// Notifies the longest waiter, if any.
    void notify_one() noexcept {
        if (!m_notices.looks_empty()) {
            notify_first();
        }
    }

    /// Notifies all present waiters.
    void notify_all() noexcept {
        if (!m_notices.looks_empty()) {
            notify_each();
        }
    }

private:
    static void pass(detail::notice_waiter& taken) noexcept;
    static std::uintptr_t checked_holder(const std::unique_lock<mutex>& lock) noexcept;
    bool wait_until_steady(std::unique_lock<mutex>& lock,
                           detail::timer::clock::time_point deadline) noexcept;
    void wait_until_stopped(std::unique_lock<mutex>& lock, const std::stop_token& stop) noexcept;
    bool wait_until_either(std::unique_lock<mutex>& lock,
                           const detail::stop_or_time& limit) noexcept;
    template <class Limit>
    bool wait_within(std::unique_lock<mutex>& lock, const Limit& limit) noexcept;
    void notify_first() noexcept;
    void notify_each() noexcept;

    detail::notice_board m_notices;
};

}  // namespace quern
