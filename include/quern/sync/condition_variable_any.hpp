// SPDX-License-Identifier: BSL-1.0
// quern::condition_variable_any: std::condition_variable_any for tasks and outside threads; works
// with a lock of any type. Each waiter has an event of its own, so that it can be queued before it
// unlocks, while it still runs.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/notices.hpp>
#include <quern/sync/event.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>  // cv_status
#include <stop_token>
#include <utility>

namespace quern {

/// Lets tasks wait for changes of data guarded by any type of lock: a quern::shared_mutex, a
/// std::unique_lock of a quern::recursive_mutex, a user-defined lock.
///
///     std::shared_lock lock(m);                    // a quern::shared_mutex
///     changed.wait(lock, [&] { return ready; });
///
/// quern::condition_variable is cheaper where it suffices: here a notified task runs, and then
/// waits for the lock like any other. Notification is FIFO. Only stop requests cause spurious
/// wake-ups.
///
/// May be destroyed as soon as all waiters have been notified, even if they have not returned from
/// wait(); earlier the program is aborted. Waits with a stop token must have returned.
/// Thread safety: any thread. Cost: a short spin-lock section; a notification without waiters is
/// two loads.
class condition_variable_any {
public:
    constexpr condition_variable_any() noexcept = default;
    condition_variable_any(const condition_variable_any&) = delete;
    condition_variable_any& operator=(const condition_variable_any&) = delete;
    ~condition_variable_any() {
        if (const entry* const first = m_waiting.first_waiter()) [[unlikely]] {
            refuse_entries(*first);
        }
    }

    /// Calls lock.unlock(), waits for a notification, and calls lock.lock().
    /// Requires: the caller holds the lock once. If lock() throws, the program is terminated.
    template <class Lock>
    void wait(Lock& lock) {
        entry self;
        m_waiting.push(self);
        wait_as(self, lock);
    }

    /// Waits until `ready()` returns true. `ready` is called with the lock held.
    template <class Lock, class Predicate>
    void wait(Lock& lock, Predicate ready) {
        while (!ready()) {
            wait(lock);
        }
    }

    /// As above, or until `stop` is requested. Returns the last result of `ready()`.
    /// Requires: no callback of the same stop source suspends its task, since std::stop_callback
    /// identifies the requester by its thread.
    template <class Lock, class Predicate>
    bool wait(Lock& lock, std::stop_token stop, Predicate ready) {
        return wait_with(stop, ready, [&](const entry& self) {
            wait_as(self, lock);
            return false;
        });
    }

    /// wait() with a deadline: std::cv_status::timeout if it passes first. Calls lock.lock() then
    /// too. Cost: as wait(), and a timer.
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

    /// Repeats until `ready()` returns true or the deadline passes. Returns the last result of
    /// `ready()`.
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

    /// As above, or until `stop` is requested.
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

    /// Notifies the longest waiter, if any.
    void notify_one() noexcept {
        if (!m_waiting.looks_empty()) {
            notify_first();
        }
    }

    /// Notifies all present waiters.
    void notify_all() noexcept {
        if (!m_waiting.looks_empty()) {
            notify_each();
        }
    }

private:
    /// Waits for an event of its own, separate from the condition variable. Only a waiter whose
    /// deadline has passed accesses the condition variable again, to leave the queue.
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

    /// `wait_once(entry)` unlocks, waits, locks, and returns whether this was the last wait.
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
                notify_each();  // the callback may have run before this entry was queued
            }
            if (wait_once(self)) {
                break;
            }
        }
        return ready();
    }

    QUERN_COLD static void refuse_entries(const entry& first) noexcept;
    void wait_for_notice(const entry& self) noexcept;
    bool wait_for_notice_until(const entry& self,
                               detail::timer::clock::time_point deadline) noexcept;
    void notify_first() noexcept;
    void notify_each() noexcept;

    detail::notice_queue<detail::std_atomics, entry, detail::spin_lock> m_waiting;
};

}  // namespace quern
