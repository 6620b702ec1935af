// SPDX-License-Identifier: BSL-1.0
// quern::sliding_semaphore, as in HPX: limits how far one side of a computation runs ahead of the
// other. All state is under a spin lock.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/level.hpp>

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

namespace quern {

/// A window over a sequence of numbers: wait(n) returns while n is at most `max_difference` above
/// the number signalled last.
///
///     quern::sliding_semaphore window(10);          // at most 10 steps ahead
///     for (std::int64_t step = 0; step < steps; ++step) {
///         state = state.then(advance);
///         auto told = state.then([&, step](auto) { window.signal(step); });
///         window.wait(step);
///     }
///
/// Tasks resume in the order of their numbers, equal ones in FIFO order. May be destroyed as soon
/// as every wait() has returned, even if the signal() that released it has not.
/// Thread safety: any thread. Cost: a short spin-lock section. A wait() that blocks steps through
/// the waiters for smaller or equal numbers unless its own is the greatest; a signal() only through
/// those it releases.
class sliding_semaphore {
public:
    /// Throws std::invalid_argument if `max_difference` is negative.
    explicit sliding_semaphore(std::int64_t max_difference, std::int64_t lower_limit = 0);
    sliding_semaphore(const sliding_semaphore&) = delete;
    sliding_semaphore& operator=(const sliding_semaphore&) = delete;
    ~sliding_semaphore() { detail::refuse_if_awaited(m_end.first_waiter(), "a sliding_semaphore"); }

    /// Changes size and position of the window; it may shrink. Wakes the waiters that it admits.
    /// Throws std::invalid_argument if `max_difference` is negative.
    void set_max_difference(std::int64_t max_difference, std::int64_t lower_limit = 0);

    /// Waits until `upper_limit` is at most max_difference above the lower limit.
    void wait(std::int64_t upper_limit) noexcept {
        detail::wait_for(m_end, upper_limit, m_lock, {&k_wait, this});
    }

    /// As wait(), until `stop` is requested: false if that comes first. See event::wait(stop).
    bool wait(std::int64_t upper_limit, const std::stop_token& stop) noexcept {
        return detail::wait_for_until(m_end, upper_limit, m_lock, {&k_wait, this}, stop);
    }

    /// wait() for coroutines, see event::co_wait().
    auto co_wait(std::int64_t upper_limit) noexcept {
        return detail::co_awaitable<reaching>{{*this, upper_limit}};
    }

    /// wait(stop) for coroutines, see event::co_wait(stop).
    auto co_wait(std::int64_t upper_limit, std::stop_token stop) noexcept {
        return detail::co_stoppable<reaching_in_time>{{{*this, upper_limit}}, std::move(stop)};
    }

    /// Whether wait() would return at once.
    [[nodiscard]] bool try_wait(std::int64_t upper_limit) const noexcept;

    /// Raises the lower limit. Does nothing if it is that high already.
    void signal(std::int64_t lower_limit) noexcept;

private:
    struct reaching {
        detail::level_waiter make_waiter() const noexcept { return detail::level_waiter(needs); }
        detail::wait_reason why() const noexcept { return {&k_wait, &of}; }
        bool ready(detail::level_waiter& self) const noexcept { return of.try_wait(self.needs); }
        bool enqueue(detail::level_waiter& self) const noexcept {
            const std::scoped_lock guard(of.m_lock);
            return of.m_end.enqueue(self);
        }
        void result(detail::level_waiter&) const noexcept {}

        sliding_semaphore& of;
        std::int64_t needs;
    };
    struct reaching_in_time : reaching {
        void withdraw(detail::level_waiter& self) const noexcept {
            const auto take_out = [this, &self] {
                const std::scoped_lock guard(of.m_lock);
                return of.m_end.withdraw(self);
            };
            detail::wake_if(take_out(), self);
        }
        bool result(detail::level_waiter& self) const noexcept { return !self.expired; }
    };

    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    mutable detail::spin_lock m_lock;
    std::int64_t m_max_difference;
    std::int64_t m_lower_limit;
    /// The greatest number admitted. Invariant: m_lower_limit + m_max_difference, or the greatest
    /// std::int64_t, while m_lock is free.
    detail::level m_end;
};

}  // namespace quern
