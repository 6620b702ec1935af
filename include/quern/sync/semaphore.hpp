// SPDX-License-Identifier: BSL-1.0
// quern::counting_semaphore and binary_semaphore: those of the standard, for tasks and outside
// threads.
#pragma once

#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/permits.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>
#include <utility>

namespace quern {

namespace detail {

/// The part that does not depend on the maximum.
class semaphore_base {
public:
    semaphore_base(const semaphore_base&) = delete;
    semaphore_base& operator=(const semaphore_base&) = delete;

protected:
    ~semaphore_base() { refuse_if_awaited(m_permits.first_waiter(), "a counting_semaphore"); }
    /// Throws std::invalid_argument if `count` is not in 0..max.
    constexpr semaphore_base(std::ptrdiff_t count, std::ptrdiff_t max) : m_permits(count) {
        if (count < 0 || count > max) {
            refuse(count, max);
        }
    }

    void acquire() noexcept {
        if (!m_permits.take()) {
            wait_for_permit();
        }
    }
    bool try_acquire() noexcept { return m_permits.try_take(); }
    struct acquisition {
        waiter make_waiter() const noexcept { return waiter(); }
        wait_reason why() const noexcept { return {&k_wait, &from}; }
        bool ready(waiter&) const noexcept { return from.m_permits.try_take(); }
        bool enqueue(waiter& self) const noexcept {
            return !from.m_permits.take() && from.m_permits.enqueue(self);
        }
        void result(waiter&) const noexcept {}

        semaphore_base& from;
    };
    struct acquisition_in_time : acquisition {
        void withdraw(waiter& self) const noexcept {
            detail::wake_if(this->from.m_permits.withdraw(self), self);
        }
        bool result(waiter& self) const noexcept { return !self.expired; }
    };
    bool acquire_until(timer::clock::time_point deadline) noexcept;
    bool acquire_until(const std::stop_token& stop) noexcept;
    bool acquire_until(const stop_or_time& limit) noexcept;
    void release(std::ptrdiff_t n, std::ptrdiff_t max) noexcept;

private:
    [[noreturn]] static void refuse(std::ptrdiff_t count, std::ptrdiff_t max);
    QUERN_COLD void wait_for_permit() noexcept;
    template <class Limit>
    bool acquire_within(const Limit& limit) noexcept;
    static void look(const void* copy, wait_findings& into) noexcept;
    static const wait_kind k_wait;

    permits<std_atomics, waiter, spin_lock> m_permits;
};

}  // namespace detail

/// At most `LeastMax` permits, which tasks acquire and release.
///
///     quern::counting_semaphore<> slots(16);     // at most 16 transfers at a time
///     void transfer(block& b) {
///         slots.acquire();
///         send(b);
///         slots.release();
///     }
///
/// Fair: permits go to waiters in FIFO order; while there is a waiter, no other acquire() succeeds.
/// A permit may be released by another task than acquired it. May be destroyed as soon as every
/// acquire() and release() has returned; the release() calls whose permits waiters got need not
/// have returned. Earlier the program is aborted.
/// Thread safety: any thread. Cost: one read-modify-write each without waiters.
template <std::ptrdiff_t LeastMax = std::numeric_limits<std::ptrdiff_t>::max()>
class counting_semaphore : private detail::semaphore_base {
    static_assert(LeastMax >= 0);

public:
    /// Throws std::invalid_argument if `count` is not in 0..max().
    constexpr explicit counting_semaphore(std::ptrdiff_t count) : semaphore_base(count, LeastMax) {}

    static constexpr std::ptrdiff_t max() noexcept { return LeastMax; }

    /// Takes a permit; waits for one if necessary.
    void acquire() noexcept { semaphore_base::acquire(); }

    /// As acquire(), until `stop` is requested: false if that comes first. See event::wait(stop).
    [[nodiscard]] bool acquire(const std::stop_token& stop) noexcept {
        return semaphore_base::acquire_until(stop);
    }

    /// acquire() for coroutines, see event::co_wait().
    auto co_acquire() noexcept { return detail::co_awaitable<acquisition>{{*this}}; }

    /// acquire(stop) for coroutines, see event::co_wait(stop).
    auto co_acquire(std::stop_token stop) noexcept {
        return detail::co_stoppable<acquisition_in_time>{{{*this}}, std::move(stop)};
    }

    /// Takes a permit if there is one. Does not fail spuriously.
    [[nodiscard]] bool try_acquire() noexcept { return semaphore_base::try_acquire(); }

    /// acquire() with a deadline. If it has passed already, as try_acquire().
    /// Any clock; if it is set back the wait gets longer. Cost: as acquire(); a wait also costs a
    /// timer, and a timeout one step per waiter queued before it.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(when,
                                     [this](auto deadline) { return acquire_until(deadline); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& time) {
        return try_acquire_until(detail::due_after(time));
    }

    /// The same until `stop` is requested too, see event::wait_until(stop, when).
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::stop_token& stop,
                                         const std::chrono::time_point<Clock, Duration>& when) {
        return detail::wait_on_clock(
            stop, when, [this](const auto& limit) { return this->acquire_until(limit); });
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::stop_token& stop,
                                       const std::chrono::duration<Rep, Period>& time) {
        return try_acquire_until(stop, detail::due_after(time));
    }

    /// Adds `n` permits.
    /// Requires: n >= 0 and at most max() permits in total; the program is aborted otherwise.
    void release(std::ptrdiff_t n = 1) noexcept { semaphore_base::release(n, LeastMax); }
};

using binary_semaphore = counting_semaphore<1>;

}  // namespace quern
