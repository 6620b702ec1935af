// SPDX-License-Identifier: BSL-1.0
// quern::condition_variable_any: std::condition_variable_any for tasks and threads outside: waiting
// with a lock of any type. Each that waits has an event of its own, so that it can be queued before
// it unlocks and while it still runs.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/event.hpp>

#include <mutex>
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
/// Thread safety: any thread. Cost: a spin lock for a few instructions; notifying nobody is a load.
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
        enqueue(self);
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
        const std::stop_callback on_stop(stop, [this] { notify_each(); });
        while (!stop.stop_requested()) {
            if (ready()) {
                return true;
            }
            entry self;
            enqueue(self);
            if (stop.stop_requested()) {
                notify_each();  // the callback may have come before this one was queued
            }
            wait_as(self, lock);
        }
        return ready();
    }

    /// Lets the one go on that has waited longest, if any.
    void notify_one() noexcept {
        if (!m_queue.looks_empty()) {
            notify_first();
        }
    }

    /// Lets all go on that wait now.
    void notify_all() noexcept {
        if (!m_queue.looks_empty()) {
            notify_each();
        }
    }

private:
    struct entry {
        entry* next = nullptr;
        event notified;
    };

    template <class Lock>
    static void wait_as(const entry& self, Lock& lock) noexcept {
        lock.unlock();
        self.notified.wait();
        lock.lock();
    }

    void enqueue(entry& self) noexcept;
    void notify_first() noexcept;
    void notify_each() noexcept;

    detail::spin_lock m_lock;
    detail::wait_queue<detail::std_atomics, entry> m_queue;
};

}  // namespace quern
