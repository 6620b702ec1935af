// SPDX-License-Identifier: BSL-1.0
// quern::sliding_semaphore: HPX's, which keeps one side of a computation from running away from the
// other. All state is under a spin lock.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/co_waiting.hpp>
#include <quern/sync/level.hpp>

#include <cstdint>
#include <mutex>

namespace quern {

/// A window over a sequence of numbers: wait(n) goes on while n is at most `max_difference` above
/// the number that has been signalled last.
///
///     quern::sliding_semaphore window(10);          // at most 10 steps ahead
///     for (std::int64_t step = 0; step < steps; ++step) {
///         state = state.then(advance);
///         auto told = state.then([&, step](auto) { window.signal(step); });
///         window.wait(step);
///     }
///
/// Tasks go on in the order of their numbers, equal ones in the order in which they began to wait.
/// It may be destroyed as soon as every wait() has returned, even while the signal() that let it
/// return has not.
/// Thread safety: any thread. Cost: a spin lock for a few instructions; a wait() that has to wait
/// looks through those that wait for greater numbers, a signal() only at those that go on.
class sliding_semaphore {
public:
    /// Throws std::invalid_argument when `max_difference` is negative.
    explicit sliding_semaphore(std::int64_t max_difference, std::int64_t lower_limit = 0);
    sliding_semaphore(const sliding_semaphore&) = delete;
    sliding_semaphore& operator=(const sliding_semaphore&) = delete;

    /// Changes the size and the place of the window, also to a smaller number. Lets those go on
    /// that may. Throws std::invalid_argument when `max_difference` is negative.
    void set_max_difference(std::int64_t max_difference, std::int64_t lower_limit = 0);

    /// Waits until `upper_limit` is at most max_difference above the lower limit.
    void wait(std::int64_t upper_limit) noexcept {
        detail::wait_for(m_end, upper_limit, m_lock, {&k_wait, this});
    }

    /// The same for coroutines, as event::co_wait().
    auto co_wait(std::int64_t upper_limit) noexcept {
        return detail::co_awaitable<reaching>{{*this, upper_limit}};
    }

    /// Whether wait() would return at once.
    [[nodiscard]] bool try_wait(std::int64_t upper_limit) const noexcept;

    /// Moves the lower limit up. Does nothing when it is there already or further.
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

    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    mutable detail::spin_lock m_lock;
    std::int64_t m_max_difference;
    std::int64_t m_lower_limit;
    /// The greatest number that may go on. Invariant: m_lower_limit + m_max_difference, or the
    /// greatest number there is, while m_lock is free.
    detail::level m_end;
};

}  // namespace quern
