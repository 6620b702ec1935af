// SPDX-License-Identifier: BSL-1.0
// quern::latch: std::latch for tasks and outside threads.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/gate.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstddef>
#include <limits>
#include <stop_token>
#include <utility>

namespace quern {

/// A counter that is counted down to zero once, and then releases its waiters.
///
///     quern::latch done(n);
///     for (int i = 0; i < n; ++i) quern::post([&] { work(); done.count_down(); });
///     done.wait();
///
/// What precedes a count_down() happens before the return of every wait(). Tasks are woken in FIFO
/// order. The latch may be destroyed as soon as every wait() has returned, even if the last
/// count_down() has not; earlier the program is aborted.
/// Thread safety: any thread. Cost: one read-modify-write to count down; the last one wakes all.
class latch {
public:
    /// Throws std::invalid_argument if `expected` is negative.
    constexpr explicit latch(std::ptrdiff_t expected) : m_left(expected), m_gate(expected == 0) {
        if (expected < 0) {
            refuse(expected);
        }
    }
    latch(const latch&) = delete;
    latch& operator=(const latch&) = delete;
    ~latch() { detail::refuse_if_awaited(m_gate.waiters(), "a latch"); }

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::ptrdiff_t>::max();
    }

    /// Requires: 0 <= n <= the remaining count; the program is aborted otherwise.
    void count_down(std::ptrdiff_t n = 1) noexcept;

    /// Whether the count has reached zero. May still return false while the last count_down() is
    /// about to return.
    [[nodiscard]] bool try_wait() const noexcept { return m_gate.is_open(); }

    /// Waits until the count is zero.
    void wait() const noexcept {
        if (!m_gate.is_open()) {
            detail::wait_for(m_gate, {&k_wait, this});
        }
    }

    /// Waits until the count is zero or `stop` is requested. False: a stop came first. See
    /// event::wait(stop).
    bool wait(const std::stop_token& stop) const noexcept {
        return detail::wait_for_until(m_gate, {&k_wait, this}, stop);
    }

    void arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
        count_down(n);
        wait();
    }

    /// wait() and arrive_and_wait() for coroutines, see event::co_wait(). The latch is counted down
    /// when the result is awaited, and not if that throws.
    auto co_wait() const noexcept { return detail::co_awaitable<opening>{{*this}}; }
    auto co_wait(std::stop_token stop) const noexcept {
        return detail::co_stoppable<opening_in_time>{{{*this}}, std::move(stop)};
    }
    auto co_arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
        return detail::co_awaitable<arrival>{{*this, n}};
    }

private:
    using opening = detail::gate_opening<latch>;
    friend opening;
    using opening_in_time = detail::gate_opening_in_time<latch>;
    friend opening_in_time;

    struct arrival {
        detail::waiter make_waiter() const noexcept { return detail::waiter(); }
        detail::wait_reason why() const noexcept { return {&k_wait, &of}; }
        bool ready(detail::waiter&) const noexcept { return false; }
        bool enqueue(detail::waiter& self) const noexcept {
            of.count_down(n);
            return of.m_gate.enqueue(self);
        }
        void result(detail::waiter&) const noexcept {}

        latch& of;
        std::ptrdiff_t n;
    };

    [[noreturn]] static void refuse(std::ptrdiff_t expected);
    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    std::atomic<std::ptrdiff_t> m_left;
    mutable detail::task_gate m_gate;
};

}  // namespace quern
