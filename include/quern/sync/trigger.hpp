// SPDX-License-Identifier: BSL-1.0
// quern::trigger: HPX's: something that happens again and again, one generation after another, and
// that can be waited for or be had as a future.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/level.hpp>
#include <quern/task/future.hpp>
#include <quern/task/promise.hpp>

#include <cstdint>
#include <optional>

namespace quern {

/// A sequence of generations, each of which ends with a set(). The first one is generation 0.
///
///     quern::trigger step_done;
///     auto next = step_done.get_future();       // of the present generation
///     auto shown = next.then([](auto) { show(); });
///     step_done.set();                          // ends generation 0: show() runs
///     step_done.synchronize(1);                 // returns at once, as generation 1 has begun
///
/// What precedes a set() happens before what it lets go on. Tasks in synchronize() are woken by the
/// generation for which they wait, then in the order in which they came. Futures outlive the
/// trigger; one whose generation never ends has a broken promise when the trigger is destroyed. It
/// may be destroyed as soon as every synchronize() has returned and every set() but the one that
/// let it return.
/// Unlike HPX's: set() ends the generation, not get_future(), which any number of callers may use;
/// and synchronize() with a number that has passed returns at once.
/// Thread safety: any thread. Cost: a spin lock for a few instructions; a get_future() allocates,
/// a set() without futures does not.
class trigger {
public:
    trigger() noexcept = default;
    trigger(const trigger&) = delete;
    trigger& operator=(const trigger&) = delete;

    /// Ready when the present generation ends. Throws std::bad_alloc.
    shared_future<void> get_future();

    /// Ends the present generation and begins the next one. Returns the number of the one it ended.
    std::int64_t set() noexcept;

    /// Waits until generation number `n` has begun: until there have been n calls of set().
    void synchronize(std::int64_t n) noexcept { synchronize_as(n, {&k_wait, this}); }

    /// The number of the present generation.
    [[nodiscard]] std::int64_t generation() const noexcept;

private:
    friend class and_gate;

    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    void synchronize_as(std::int64_t n, const detail::wait_reason& why) noexcept {
        detail::wait_for(m_generation, n, m_lock, why);
    }

    mutable detail::spin_lock m_lock;
    detail::level m_generation{0};
    /// Of the present generation. Invariant: neither, or both, the one the promise of the other.
    std::optional<promise<void>> m_end;
    shared_future<void> m_future;
};

}  // namespace quern
