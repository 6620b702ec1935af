// SPDX-License-Identifier: BSL-1.0
// quern::trigger, as in HPX: a recurring event, counted in generations, that can be waited for or
// obtained as a future.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/level.hpp>
#include <quern/task/future.hpp>
#include <quern/task/promise.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>

namespace quern {

/// A sequence of generations, each of which ends with a set(). The first one is generation 0.
///
///     quern::trigger step_done;
///     auto next = step_done.get_future();       // of the present generation
///     auto shown = next.then([](auto) { show(); });
///     step_done.set();                          // ends generation 0: show() runs
///     step_done.synchronize(1);                 // returns at once, as generation 1 has begun
///
/// What precedes a set() happens before what it releases. Tasks in synchronize() are woken in the
/// order of their generations, then in FIFO order. Futures outlive the trigger; the future of a
/// generation that never ends holds broken_promise after the trigger is destroyed. May be destroyed
/// as soon as every synchronize() has returned, and every set() except the one that released it.
/// Unlike in HPX, set() ends the generation, not get_future(), which any number of callers may use;
/// and synchronize() with a past number returns at once.
/// Thread safety: any thread. Cost: a short spin-lock section. get_future() allocates, set()
/// without futures does not.
class trigger {
public:
    trigger() noexcept = default;
    trigger(const trigger&) = delete;
    trigger& operator=(const trigger&) = delete;
    ~trigger() { detail::refuse_if_awaited(m_generation.first_waiter(), "a trigger"); }

    /// Ready when the present generation ends. Throws std::bad_alloc.
    shared_future<void> get_future();

    /// Ends the present generation and begins the next one. Returns the number of the ended one.
    std::int64_t set() noexcept;

    /// Waits until generation number `n` has begun, that is, until set() was called n times.
    void synchronize(std::int64_t n) noexcept { synchronize_as(n, {&k_wait, this}); }

    /// As synchronize(), until `stop` is requested: false if that comes first. See
    /// event::wait(stop).
    bool synchronize(std::int64_t n, const std::stop_token& stop) noexcept {
        return synchronize_as(n, {&k_wait, this}, stop);
    }

    /// The number of the present generation.
    [[nodiscard]] std::int64_t generation() const noexcept;

private:
    friend class and_gate;

    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    void synchronize_as(std::int64_t n, const detail::wait_reason& why) noexcept {
        detail::wait_for(m_generation, n, m_lock, why);
    }
    bool synchronize_as(std::int64_t n, const detail::wait_reason& why,
                        const std::stop_token& stop) noexcept {
        return detail::wait_for_until(m_generation, n, m_lock, why, stop);
    }

    mutable detail::spin_lock m_lock;
    detail::level m_generation{0};
    /// Of the present generation. Invariant: both exist or neither; m_future is the future of
    /// m_end.
    std::optional<promise<void>> m_end;
    shared_future<void> m_future;
};

}  // namespace quern
