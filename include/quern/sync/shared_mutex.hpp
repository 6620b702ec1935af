// SPDX-License-Identifier: BSL-1.0
// quern::shared_mutex: std::shared_mutex for tasks and outside threads, for std::unique_lock,
// std::scoped_lock and std::shared_lock. All state is under a spin lock.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/co_guard.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstddef>
#include <stop_token>
#include <utility>

namespace quern {

/// A mutex held by one writer exclusively, or by any number of readers.
///
///     quern::shared_mutex m;
///     int look_up(int key) { std::shared_lock lock(m); return table.at(key); }
///     void put(int key, int value) { std::unique_lock lock(m); table[key] = value; }
///
/// Fair: readers and writers share one queue. A newcomer that finds waiters goes to its end,
/// readers too. An unlock hands the mutex to the first in the queue; if that is a reader, also to
/// the readers directly behind it. So a writer waits only for those before it, a reader for the
/// writers before it, and none starves. The price: readers on either side of a waiting writer do
/// not overlap, and a reader that locks again while a writer waits deadlocks.
///
/// A task may suspend while it holds the mutex. To hold it across a co_await, a coroutine uses
/// co_lock() or co_lock_shared(), for the reason given at mutex. May be destroyed as soon as it is
/// free without waiters, even if the last unlock() has not returned.
/// Thread safety: any thread. Cost: a short spin-lock section to lock and to unlock, for readers
/// too. Worthwhile if readers hold it for longer than that, or suspend.
class shared_mutex {
    // Declared before the guards, whose types name them.
    void unlock_of_writer(std::uintptr_t holder) noexcept;
    void unlock_of_reader() noexcept;
    void unlock_of_coroutine() noexcept { unlock_of_writer(m_writer); }

public:
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;
    ~shared_mutex() { detail::refuse_if_awaited(m_queue.front(), "a shared_mutex"); }

    /// Throws std::system_error (resource_deadlock_would_occur) if the caller is the writer.
    void lock() { lock_as(false); }

    /// As lock() and lock_shared(), until `stop` is requested: false if that comes first. See
    /// event::wait(stop).
    [[nodiscard]] bool lock(const std::stop_token& stop) { return lock_as_until(false, stop); }
    [[nodiscard]] bool lock_shared(const std::stop_token& stop) {
        return lock_as_until(true, stop);
    }

    /// False if it is held or has waiters.
    [[nodiscard]] bool try_lock() noexcept { return try_lock_as(false); }

    /// Requires: the caller is the writer; the program is aborted otherwise.
    void unlock() noexcept;

    /// Throws std::system_error (resource_deadlock_would_occur) if the caller is the writer.
    void lock_shared() { lock_as(true); }

    /// False if a writer holds it or it has waiters.
    [[nodiscard]] bool try_lock_shared() noexcept { return try_lock_as(true); }

    /// Requires: a reader holds it; the program is aborted otherwise.
    void unlock_shared() noexcept;

    /// Holds the mutex for a coroutine: as the writer, or as a reader.
    using co_guard = detail::co_guard<shared_mutex, &shared_mutex::unlock_of_coroutine>;
    using co_shared_guard = detail::co_guard<shared_mutex, &shared_mutex::unlock_of_reader>;

    /// Locks it for a coroutine, as mutex::co_lock(): co_await gives a guard.
    auto co_lock() noexcept { return detail::co_awaitable<co_locking<co_guard>>{{*this, false}}; }
    auto co_lock_shared() noexcept {
        return detail::co_awaitable<co_locking<co_shared_guard>>{{*this, true}};
    }

    /// The same until `stop` is requested, as mutex::co_lock(stop).
    auto co_lock(std::stop_token stop) noexcept {
        return detail::co_stoppable<co_locking_in_time<co_guard>>{{{*this, false}},
                                                                  std::move(stop)};
    }
    auto co_lock_shared(std::stop_token stop) noexcept {
        return detail::co_stoppable<co_locking_in_time<co_shared_guard>>{{{*this, true}},
                                                                         std::move(stop)};
    }

protected:
    /// False: the deadline has passed. Throws as lock().
    bool lock_as_until(bool shared, detail::timer::clock::time_point deadline);
    bool lock_as_until(bool shared, const std::stop_token& stop);
    bool lock_as_until(bool shared, const detail::stop_or_time& limit);
    bool lock_until(detail::timer::clock::time_point deadline) {
        return lock_as_until(false, deadline);
    }
    bool lock_until(const detail::stop_or_time& limit) { return lock_as_until(false, limit); }

private:
    struct request : detail::claimant {
        request(std::uintptr_t who, bool reads) noexcept : claimant(who), shared(reads) {}
        const bool shared;
    };

    template <class Guard>
    struct co_locking {
        request make_waiter() const noexcept { return request(detail::this_coroutine(), shared); }
        detail::wait_reason why() const noexcept { return {&k_wait, &wanted}; }
        bool ready(request& self) const noexcept { return wanted.try_admit(self); }
        bool enqueue(request& self) const noexcept { return wanted.enqueue(self); }
        Guard result(request&) const noexcept { return Guard(wanted); }

        shared_mutex& wanted;
        bool shared;
    };
    template <class Guard>
    struct co_locking_in_time : co_locking<Guard> {
        void withdraw(request& self) const noexcept { this->wanted.withdraw(self); }
        Guard result(request& self) const noexcept {
            return self.expired ? Guard() : Guard(this->wanted);
        }
    };

    template <class Limit>
    bool lock_as_within(bool shared, const Limit& limit);
    void lock_as(bool shared);
    bool try_lock_as(bool shared) noexcept;
    bool admit(const request& r) noexcept;
    bool admit_first(const request& r) noexcept;
    bool try_admit(const request& r) noexcept;
    bool admit_at_once(const request& r);
    bool enqueue(request& self) noexcept;
    bool withdraw(request& self) noexcept;
    request* hand_over() noexcept;

    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    detail::spin_lock m_lock;
    std::uintptr_t m_writer = 0;
    std::size_t m_readers = 0;  ///< Invariant: 0 while there is a writer.
    /// Invariant: the first one is not admissible, while m_lock is free.
    detail::wait_queue<detail::std_atomics, request> m_queue;
};

}  // namespace quern
