// SPDX-License-Identifier: BSL-1.0
// quern::barrier: std::barrier for tasks and outside threads. All state is under a spin lock; the
// completion function runs without it.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/level.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <cstddef>
#include <limits>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// The part that does not depend on the completion function.
class barrier_base {
public:
    barrier_base(const barrier_base&) = delete;
    barrier_base& operator=(const barrier_base&) = delete;
    ~barrier_base() { refuse_if_awaited(m_phase.first_waiter(), "a barrier"); }

protected:
    struct arrival {
        std::int64_t phase;  ///< the phase arrived in
        bool is_last;        ///< the caller must complete the phase
    };

    /// Throws std::invalid_argument if `expected` is negative.
    constexpr explicit barrier_base(std::ptrdiff_t expected)
        : m_expected(expected), m_left(expected) {
        if (expected < 0) {
            refuse(expected);
        }
    }

    /// Arrival of `n` participants, of which `leaving` will not arrive in later phases.
    arrival arrive(std::ptrdiff_t n, std::ptrdiff_t leaving) noexcept;
    void begin_next_phase() noexcept;
    void wait(std::int64_t phase) const noexcept { wait_for(m_phase, phase + 1, m_lock, why()); }
    bool wait(std::int64_t phase, const std::stop_token& stop) const noexcept {
        return wait_for_until(m_phase, phase + 1, m_lock, why(), stop);
    }
    wait_reason why() const noexcept { return {&k_wait, this}; }
    /// False: the phase has ended.
    bool enqueue(level_waiter& self) const noexcept {
        const std::scoped_lock guard(m_lock);
        return m_phase.enqueue(self);
    }

private:
    [[noreturn]] static void refuse(std::ptrdiff_t expected);
    static void look(const void* copy, wait_findings& into) noexcept;
    static const wait_kind k_wait;

    mutable spin_lock m_lock;
    mutable level m_phase{0};
    std::ptrdiff_t m_expected;  ///< arrivals per phase from the next one on
    std::ptrdiff_t m_left;      ///< arrivals missing in this phase
};

/// The completion function of a barrier that needs none.
struct completes_nothing {
    void operator()() const noexcept {}
};

}  // namespace detail

/// A reusable rendezvous for a number of participants: each phase ends when all have arrived.
///
///     quern::barrier all(n, [&]() noexcept { std::swap(old_grid, new_grid); });
///     for (int i = 0; i < n; ++i)
///         quern::post([&, i] {
///             for (int step = 0; step < steps; ++step) {
///                 relax(old_grid, new_grid, i);
///                 all.arrive_and_wait();
///             }
///         });
///
/// The last participant to arrive calls the completion function, which may suspend; then the next
/// phase begins and the waiters are woken. What precedes an arrive() happens before that call, and
/// the call before the return of every wait() of that phase. Tasks are woken in FIFO order. If no
/// more arrivals follow, the barrier may be destroyed as soon as every wait() has returned, even if
/// the arrive() that ended the phase has not; earlier the program is aborted.
/// Thread safety: any thread. Cost: one short spin-lock section to arrive, another to wait.
template <class CompletionFunction = detail::completes_nothing>
class barrier : private detail::barrier_base {
    static_assert(std::is_nothrow_invocable_v<CompletionFunction&>,
                  "the completion function of a barrier must be noexcept");

public:
    /// The phase of an arrival.
    class arrival_token {
    public:
        arrival_token(arrival_token&&) noexcept = default;
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend class barrier;
        explicit arrival_token(std::int64_t phase) noexcept : m_phase(phase) {}
        std::int64_t m_phase;
    };

    /// Throws std::invalid_argument if `expected` is negative, and what moving `f` throws.
    constexpr explicit barrier(std::ptrdiff_t expected, CompletionFunction f = CompletionFunction())
        : barrier_base(expected), m_completion(std::move(f)) {}

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::ptrdiff_t>::max();
    }

    /// Counts as the arrival of `n` participants and does not wait.
    /// Requires: 0 < n <= the arrivals missing in this phase; the program is aborted otherwise.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) noexcept {
        return arrival_token(arrive_as(n, 0));
    }

    /// Waits for the end of the token's phase.
    void wait(arrival_token&& token) const noexcept { barrier_base::wait(token.m_phase); }

    /// Waits for the end of the token's phase or until `stop` is requested. False: a stop came
    /// first; the arrival counts nevertheless. See event::wait(stop).
    bool wait(arrival_token&& token, const std::stop_token& stop) const noexcept {
        return barrier_base::wait(token.m_phase, stop);
    }

    void arrive_and_wait() noexcept { wait(arrive()); }

    /// As arrive_and_wait() for coroutines, see event::co_wait(). Arrives when the result is
    /// awaited, and not if that throws. The last participant calls the completion function.
    auto co_arrive_and_wait() noexcept { return detail::co_awaitable<meeting>{{*this}}; }

    /// Arrives, and leaves from the next phase on. Does not wait.
    void arrive_and_drop() noexcept { arrive_as(1, 1); }

private:
    struct meeting {
        detail::level_waiter make_waiter() const noexcept { return detail::level_waiter(0); }
        detail::wait_reason why() const noexcept { return all.barrier_base::why(); }
        bool ready(detail::level_waiter&) const noexcept { return false; }
        bool enqueue(detail::level_waiter& self) const noexcept {
            self.needs = all.arrive_as(1, 0) + 1;
            return all.enqueue(self);
        }
        void result(detail::level_waiter&) const noexcept {}

        barrier& all;
    };

    std::int64_t arrive_as(std::ptrdiff_t n, std::ptrdiff_t leaving) noexcept {
        const arrival made = barrier_base::arrive(n, leaving);
        if (made.is_last) {
            detail::on_enough_stack([this]() noexcept { m_completion(); });
            begin_next_phase();
        }
        return made.phase;
    }

    [[no_unique_address]] CompletionFunction m_completion;
};

}  // namespace quern
