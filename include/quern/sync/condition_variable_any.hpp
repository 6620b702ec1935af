// SPDX-License-Identifier: BSL-1.0
// quern::condition_variable_any: std::condition_variable_any for tasks and threads outside: waiting
// with a lock of any type. Each that waits has an event of its own, so that it can be queued before
// it unlocks and while it still runs.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/notices.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>  // cv_status
#include <stop_token>
#include <utility>

namespace quern {

/// Lets tasks wait until another one has changed what a lock of any type guards: a
/// quern::shared_mutex, a std::unique_lock of a quern::recursive_mutex, a lock of the program's
/// own.
///
///     std::shared_lock lock(m);                    // a quern::shared_mutex
///     changed.wait(lock, [&] { return ready; });
///
/// Where quern::condition_variable will do it is cheaper: here a notified task runs, and then waits
/// for the lock like any other. Tasks are notified in the order in which they began to wait. There
/// are no wake-ups without cause but those of a stop request.
///
/// It may be destroyed as soon as all that waited have been notified, even while they have not
/// returned from wait(); those that wait with a stop token must have returned.
/// Thread safety: any thread. Cost: a spin lock for a few instructions; notifying nobody is two
/// loads.
class condition_variable_any {
public:
    constexpr condition_variable_any() noexcept = default;
    condition_variable_any(const condition_variable_any&) = delete;
    condition_variable_any& operator=(const condition_variable_any&) = delete;

    /// Calls lock.unlock(), waits to be notified, and calls lock.lock().
    /// Requires: the caller holds the lock once. When lock() throws the program is terminated.
    template <class Lock>
    void wait(Lock& lock) {
        entry self;
        m_waiting.push(self);
        wait_as(self, lock);
    }

    /// Waits until `ready()`, which is called with the lock held, returns true.
    template <class Lock, class Predicate>
    void wait(Lock& lock, Predicate ready) {
        while (!ready()) {
            wait(lock);
        }
    }

    /// The same, or until `stop` is requested. Returns what `ready()` returned last.
    /// Requires: no callback that is registered with the same stop source suspends its task, since
    /// std::stop_callback knows its requester by the thread.
    template <class Lock, class Predicate>
    bool wait(Lock& lock, std::stop_token stop, Predicate ready) {
        return wait_with(stop, ready, [&](const entry& self) {
            wait_as(self, lock);
            return false;
        });
    }

    /// wait(), but not longer than until a time: std::cv_status::timeout when that has come first.
    /// Calls lock.lock() then too. Cost: as wait(), and a timer.
    template <class Lock, class Clock, class Duration>
    std::cv_status wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when) {
        entry self;
        m_waiting.push(self);
        return wait_as_until(self, lock, when);
    }
    template <class Lock, class Rep, class Period>
    std::cv_status wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time) {
        return wait_until(lock, detail::due_after(time));
    }

    /// The same until `ready()` returns true. Returns what it returned last.
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& when,
                    Predicate ready) {
        while (!ready()) {
            if (wait_until(lock, when) == std::cv_status::timeout) {
                return ready();
            }
        }
        return true;
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time, Predicate ready) {
        return wait_until(lock, detail::due_after(time), std::move(ready));
    }

    /// The same, or until `stop` is requested.
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, std::stop_token stop,
                    const std::chrono::time_point<Clock, Duration>& when, Predicate ready) {
        return wait_with(stop, ready, [&](entry& self) {
            return wait_as_until(self, lock, when) == std::cv_status::timeout;
        });
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, std::stop_token stop, const std::chrono::duration<Rep, Period>& time,
                  Predicate ready) {
        return wait_until(lock, std::move(stop), detail::due_after(time), std::move(ready));
    }

    /// Lets the one go on that has waited longest, if any.
    void notify_one() noexcept {
        if (!m_waiting.looks_empty()) {
            notify_first();
        }
    }

    /// Lets all go on that wait now.
    void notify_all() noexcept {
        if (!m_waiting.looks_empty()) {
            notify_each();
        }
    }

private:
    /// Waits for an event of its own, which is not the condition variable's: only to leave the
    /// queue must one whose limit has passed come back to that.
    struct entry {
        entry* next = nullptr;
        bool late = false;
        bool expired = false;
        std::atomic<bool> taken{false};
        event notified;
    };

    template <class Lock>
    void wait_as(const entry& self, Lock& lock) noexcept {
        lock.unlock();
        wait_for_notice(self);
        lock.lock();
    }

    template <class Lock, class Clock, class Duration>
    std::cv_status wait_as_until(entry& self, Lock& lock,
                                 const std::chrono::time_point<Clock, Duration>& when) noexcept {
        lock.unlock();
        const bool noticed =
            detail::wait_on_clock(
                when, [&](auto deadline) { return wait_for_notice_until(self, deadline); }) ||
            !m_waiting.withdraw(self);
        if (noticed) {
            wait_for_notice(self);
        }
        lock.lock();
        return noticed ? std::cv_status::no_timeout : std::cv_status::timeout;
    }

    /// `wait_once(entry)` unlocks, waits, locks, and returns whether this was the last time.
    template <class Predicate, class Wait>
    bool wait_with(const std::stop_token& stop, Predicate& ready, Wait wait_once) {
        const std::stop_callback on_stop(stop, [this] { notify_each(); });
        while (!stop.stop_requested()) {
            if (ready()) {
                return true;
            }
            entry self;
            m_waiting.push(self);
            if (stop.stop_requested()) {
                notify_each();  // the callback may have come before this one was queued
            }
            if (wait_once(self)) {
                break;
            }
        }
        return ready();
    }

    void wait_for_notice(const entry& self) noexcept;
    bool wait_for_notice_until(const entry& self,
                               detail::timer::clock::time_point deadline) noexcept;
    void notify_first() noexcept;
    void notify_each() noexcept;

    detail::notice_queue<detail::std_atomics, entry, detail::spin_lock> m_waiting;
};

}  // namespace quern
