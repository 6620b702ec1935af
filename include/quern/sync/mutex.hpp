// SPDX-License-Identifier: BSL-1.0
// quern::mutex: std::mutex for tasks. A waiting task is suspended and its worker runs other work; a
// thread that is no worker sleeps.
#pragma once

#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/detail/co_guard.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/ownership.hpp>

#include <mutex>
#include <stop_token>
#include <utility>

namespace quern {

class condition_variable;

/// A lock that one task, or one outside thread, holds at a time. For std::scoped_lock,
/// std::unique_lock and quern::condition_variable.
///
///     quern::mutex m;
///     int total = 0;                       // guarded by m
///     void add(int n) {
///         std::scoped_lock lock(m);
///         total += n;
///     }
///
/// Fair: unlock() hands the mutex to the longest waiter, so none starves. The price: under
/// contention every hand-over costs a suspension and a resumption (about 120 ns on one worker, a
/// wake-up of 50 us if the next owner's worker sleeps). A lock() that finds the mutex free, or
/// spins for it while the queue is empty, takes it at once.
///
/// A task may suspend while it holds the mutex, and then hold it on another worker. A function that
/// fork_join runs is a task of its own: it must unlock what it locks.
/// A coroutine may lock() and unlock(), but not with a co_await in between: it may be on another
/// stack afterwards, which is not the holder, and unlock() then aborts the program. To hold the
/// mutex across a co_await, use co_lock().
/// The mutex may be destroyed as soon as it is free and has no waiters, even if the last unlock()
/// has not returned yet. One that is destroyed while anything waits for it aborts the program.
/// Thread safety: any thread. Cost without contention: one read-modify-write to lock, one to
/// unlock.
class mutex {
    // Declared before the guard, whose type names it.
    void unlock_of_coroutine() noexcept {
        if (detail::claimant* next_owner = m_owner.give_up(m_owner.holder())) {
            next_owner->wake();
        }
    }

public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() { detail::refuse_if_awaited(m_owner.first_waiter(), "a mutex"); }

    /// Throws std::system_error (resource_deadlock_would_occur) if the caller holds it already.
    void lock() {
        const std::uintptr_t me = detail::this_holder();
        if (!m_owner.try_take(me)) [[unlikely]] {
            lock_contended(me, k_wait);
        }
        detail::note_locked();
    }

    /// As lock(), until `stop` is requested: false if that comes first. See event::wait(stop).
    ///
    ///     if (!m.lock(stop)) return;
    ///     const std::scoped_lock lock(std::adopt_lock, m);
    [[nodiscard]] bool lock(const std::stop_token& stop);

    /// False if it is held, also by the caller. Does not fail spuriously.
    [[nodiscard]] bool try_lock() noexcept {
        return detail::note_if_locked(m_owner.try_take(detail::this_holder()));
    }

    /// Requires: the caller holds it; the program is aborted otherwise.
    void unlock() noexcept {
        detail::note_unlocked();
        if (detail::claimant* next_owner = m_owner.give_up(detail::this_holder())) [[unlikely]] {
            next_owner->wake();
        }
    }

    /// Holds the mutex for a coroutine; movable, and can be unlocked early.
    using co_guard = detail::co_guard<mutex, &mutex::unlock_of_coroutine>;

    /// Locks it for a coroutine: co_await waits as event::co_wait() does, in one queue with lock(),
    /// and gives a co_guard. The guard may be held across any co_await and released on any worker
    /// or thread. A coroutine that locks what it already holds waits for ever; a hang report says
    /// so. Builds with assertions do not track locks held this way (held_locks.hpp).
    ///
    ///     quern::task<> add_later(quern::future<int> late) {
    ///         auto held = co_await m.co_lock();
    ///         total += co_await std::move(late);      // held also on another worker
    ///     }
    auto co_lock() noexcept { return detail::co_awaitable<co_locking>{{*this}}; }

    /// lock(stop) for coroutines, see event::co_wait(stop): co_await gives an empty co_guard if the
    /// stop came first.
    auto co_lock(std::stop_token stop) noexcept {
        return detail::co_stoppable<co_locking_in_time>{{{*this}}, std::move(stop)};
    }

protected:
    friend class condition_variable;

    /// Wait reason for reports.
    static const detail::wait_kind k_wait;

    QUERN_COLD void lock_contended(std::uintptr_t me, const detail::wait_kind& why);
    QUERN_COLD bool lock_until(detail::timer::clock::time_point deadline);
    QUERN_COLD bool lock_until(const detail::stop_or_time& limit);

    detail::task_ownership m_owner;

    static void look(const void* copy, detail::wait_findings& into) noexcept;

private:
    struct co_locking {
        detail::claimant make_waiter() const noexcept {
            return detail::claimant(detail::this_coroutine());
        }
        detail::wait_reason why() const noexcept { return {&k_wait, &wanted}; }
        bool ready(detail::claimant& self) const noexcept {
            return wanted.m_owner.try_take(self.holder);
        }
        bool enqueue(detail::claimant& self) const noexcept { return wanted.m_owner.enqueue(self); }
        co_guard result(detail::claimant&) const noexcept { return co_guard(wanted); }

        mutex& wanted;
    };
    struct co_locking_in_time : co_locking {
        bool enqueue(detail::claimant& self) const noexcept {
            return wanted.m_owner.enqueue_in_time(self);
        }
        void withdraw(detail::claimant& self) const noexcept {
            detail::wake_if(wanted.m_owner.withdraw(self), self);
        }
        co_guard result(detail::claimant& self) const noexcept {
            return self.expired ? co_guard() : co_guard(wanted);
        }
    };

    template <class Limit>
    bool lock_within(const Limit& limit);

    void refuse_holder(std::uintptr_t me) const;
};

}  // namespace quern
