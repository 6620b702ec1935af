// SPDX-License-Identifier: BSL-1.0
// quern::shared_mutex: std::shared_mutex for tasks and threads outside, for std::unique_lock,
// std::scoped_lock and std::shared_lock. All state is under a spin lock.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/scheduler/timers.hpp>
#include <quern/sync/co_guard.hpp>
#include <quern/sync/co_waiting.hpp>
#include <quern/sync/waiting.hpp>

#include <cstddef>

namespace quern {

/// A mutex that one writer holds alone, or any number of readers together.
///
///     quern::shared_mutex m;
///     int look_up(int key) { std::shared_lock lock(m); return table.at(key); }
///     void put(int key, int value) { std::unique_lock lock(m); table[key] = value; }
///
/// Fair: there is one queue for readers and writers, and who comes when somebody is queued goes to
/// its end, a reader too. Whoever lets go hands the mutex to the first in the queue; if that is a
/// reader, also to the readers directly behind it. So a writer waits for those before it only, and
/// a reader for the writers before it: neither can starve. The price is that readers on either side
/// of a waiting writer do not overlap, and that a reader which locks again while a writer waits
/// never goes on.
///
/// A task may suspend while it holds the mutex; a coroutine that holds it across a co_await takes
/// it by co_lock() or co_lock_shared(), for the reason that mutex gives. It may be destroyed as
/// soon as nobody holds it or waits for it, even while the unlock() that made it so has not
/// returned.
/// Thread safety: any thread. Cost: a spin lock for a few instructions to lock and to unlock, for
/// readers too: it pays when they hold it for longer than that, or suspend.
class shared_mutex {
    // Before the guards, whose types name them.
    void unlock_of_writer(std::uintptr_t holder) noexcept;
    void unlock_of_reader() noexcept;
    void unlock_of_coroutine() noexcept { unlock_of_writer(m_writer); }

public:
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    /// Throws std::system_error (resource_deadlock_would_occur) when the caller is the writer.
    void lock() { lock_as(false); }

    /// False when somebody holds it or waits for it.
    [[nodiscard]] bool try_lock() noexcept { return try_lock_as(false); }

    /// Requires: the caller is the writer; the program is aborted otherwise.
    void unlock() noexcept;

    /// Throws std::system_error (resource_deadlock_would_occur) when the caller is the writer.
    void lock_shared() { lock_as(true); }

    /// False when a writer holds it or somebody waits for it.
    [[nodiscard]] bool try_lock_shared() noexcept { return try_lock_as(true); }

    /// Requires: a reader holds it; the program is aborted otherwise.
    void unlock_shared() noexcept;

    /// The mutex in the hands of a coroutine: as the writer, or as a reader.
    using co_guard = detail::co_guard<shared_mutex, &shared_mutex::unlock_of_coroutine>;
    using co_shared_guard = detail::co_guard<shared_mutex, &shared_mutex::unlock_of_reader>;

    /// Locks it for a coroutine, as mutex::co_lock(): co_await gives a guard.
    auto co_lock() noexcept { return detail::co_awaitable<co_locking<co_guard>>{{*this, false}}; }
    auto co_lock_shared() noexcept {
        return detail::co_awaitable<co_locking<co_shared_guard>>{{*this, true}};
    }

protected:
    /// False: the deadline has passed. Throws as lock().
    bool lock_as_until(bool shared, detail::timer::clock::time_point deadline);
    bool lock_until(detail::timer::clock::time_point deadline) {
        return lock_as_until(false, deadline);
    }

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
    /// Invariant: the first one cannot be admitted, while m_lock is free.
    detail::wait_queue<detail::std_atomics, request> m_queue;
};

}  // namespace quern
