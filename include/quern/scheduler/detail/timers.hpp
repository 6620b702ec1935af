// SPDX-License-Identifier: BSL-1.0
// Timers, on which sleeping tasks and timed waits of a pool are built. A binomial queue (Vuillemin,
// "A data structure for manipulating priority queues", 1978) linked through the timers: setting one
// allocates nothing, and with 100 000 set none takes long to fire. Workers read the earliest time
// between two items; when all sleep, one of them sleeps until then. No thread of its own, no
// periodic wake-up.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace quern::detail {

/// Lies in a frame or object of the code that sets it.
struct timer {
    using clock = std::chrono::steady_clock;

    explicit timer(void (*action)(timer& self) noexcept) noexcept : fire(action) {}

    /// Called once, by a worker outside user code, unless the timer was cancelled before. Must not
    /// block; the timer may be destroyed before it returns.
    void (*fire)(timer& self) noexcept;
    clock::time_point due{};

private:
    friend class timer_queue;

    timer* m_child = nullptr;
    timer* m_next = nullptr;
    timer* m_before = nullptr;  ///< the previous sibling; of the first sibling the parent, of a
                                ///< root null
    std::uint8_t m_rank = 0;
    bool m_set = false;
};

/// The time that long from now, without overflow: a century and more is never.
template <class Rep, class Period>
timer::clock::time_point due_after(const std::chrono::duration<Rep, Period>& time) noexcept {
    constexpr std::chrono::hours k_century(24 * 365 * 100);
    if (time >= k_century) {
        return timer::clock::time_point::max();
    }
    return timer::clock::now() +
           std::chrono::ceil<timer::clock::duration>(std::max(time, time.zero()));
}

/// Calls `wait(deadline)` until it returns true or the clock has reached `when`; returns the last
/// result. `wait` waits until a time of the steady clock and returns whether the wait is over. It
/// is called more than once only if `Clock` is another clock and is set back meanwhile.
template <class Clock, class Duration, class Wait>
bool wait_on_clock(const std::chrono::time_point<Clock, Duration>& when, Wait&& wait) {
    for (;;) {
        const auto now = Clock::now();  // compared first: the difference may overflow
        if (wait(when > now ? detail::due_after(when - now) : timer::clock::time_point::min())) {
            return true;
        }
        if (Clock::now() >= when) {
            return false;
        }
    }
}

/// Heap-ordered trees, at most one of each rank: no timer is earlier than its parent. The children
/// of a timer have distinct lower ranks, the highest first. A tree of rank r + 1 is made of two of
/// rank r. A cancelled timer leaves its place and rank to a tree of its children.
///
/// So the sum of 2^rank over the trees is at most the number of timers set since the queue was last
/// empty. No rank exceeds 63, and each step below touches only a few timers for each rank: 17 ranks
/// after 100 000 timers, 30 after 10^9.
class timer_queue {
public:
    /// True: it is now the earliest, so a thread that sleeps until the earliest must be woken. A
    /// time in the past fires at the next check. O(1) amortised, O(log n).
    bool set(timer& t, timer::clock::time_point due) noexcept;

    /// True: it was set and will not fire. False: it has fired, or another thread is about to call
    /// `fire` or is inside it. O(log n).
    bool cancel(timer& t) noexcept;

    bool empty() const noexcept {
        return m_earliest.load(std::memory_order_seq_cst) == timer::clock::time_point::max();
    }
    /// time_point::max() when the queue is empty, min() while a timer fires.
    timer::clock::time_point earliest() const noexcept {
        return m_earliest.load(std::memory_order_seq_cst);
    }

    /// Whether there is any timer; inexact, for frequent checks.
    bool any() const noexcept {
        return m_look_at.load(std::memory_order_relaxed) != std::numeric_limits<tick_count>::max();
    }

    /// Whether to call fire_due, by a time stamp at hand. Never true without a timer.
    bool may_be_due(tick_count now) const noexcept {
        return now >= m_look_at.load(std::memory_order_relaxed);
    }

    /// Fires all timers that are due, earliest first, and returns their number. O(log n) for each.
    std::size_t fire_due() noexcept;

private:
    using time_point = timer::clock::time_point;

    /// Keeps frequently compared values together; the timers lie far apart on cold stacks.
    struct tree {
        time_point due;
        timer* root;
    };
    static constexpr unsigned k_ranks = 64;

    static timer* merge(timer* a, timer* b) noexcept;
    static timer* join(timer* children) noexcept;
    void add(timer* root) noexcept;
    void remove_root(timer& root) noexcept;
    timer& earliest_root() noexcept;
    void publish_earliest() noexcept;

    spin_lock m_lock;
    tree m_trees[k_ranks];
    std::uint64_t m_ranks = 0;  ///< a bit for each existing tree
    time_point m_due = time_point::max();
    int m_firing = 0;  ///< threads inside a timer's `fire`: until they return, the queue is not
                       ///< empty
    std::atomic<timer::clock::time_point> m_earliest{timer::clock::time_point::max()};
    std::atomic<tick_count> m_look_at{std::numeric_limits<tick_count>::max()};
};

}  // namespace quern::detail
