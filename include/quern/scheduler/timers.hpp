// SPDX-License-Identifier: BSL-1.0
// Things to be done at a time: what sleeping tasks and timed waits of a pool are made of. A
// binomial queue (Vuillemin, "A data structure for manipulating priority queues", 1978) through the
// timers themselves, so that setting one allocates nothing and none of 100 000 that are set takes
// long to fire. Workers look at the earliest time between two items; when all sleep, one of them
// sleeps until then. No thread of its own, no periodic wake-up.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/spin_lock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace quern::detail {

/// Lies on the frame or in the object of the one who sets it.
struct timer {
    using clock = std::chrono::steady_clock;

    explicit timer(void (*action)(timer& self) noexcept) noexcept : fire(action) {}

    /// Called once, by a worker outside user code, unless the timer was cancelled before. Must not
    /// block; the timer may be gone when it returns.
    void (*fire)(timer& self) noexcept;
    clock::time_point due{};

private:
    friend class timer_queue;

    timer* m_child = nullptr;
    timer* m_next = nullptr;    ///< the next sibling
    timer* m_before = nullptr;  ///< the previous sibling; of the first the parent, of a root null
    std::uint8_t m_rank = 0;
    bool m_set = false;
};

/// So long from now, without overflow: a century and more is never.
template <class Rep, class Period>
timer::clock::time_point due_after(const std::chrono::duration<Rep, Period>& time) noexcept {
    constexpr std::chrono::hours k_century(24 * 365 * 100);
    if (time >= k_century) {
        return timer::clock::time_point::max();
    }
    return timer::clock::now() +
           std::chrono::ceil<timer::clock::duration>(std::max(time, time.zero()));
}

/// Calls `wait(deadline)`, which waits until a time of the steady clock and returns whether it need
/// not wait longer, until it does or until the clock has reached `when`: more than once only when
/// that clock is another one and is set back meanwhile. Returns what `wait` returned last.
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

/// Trees in which no timer is earlier than its parent, at most one of each rank. The children of a
/// timer have lower ranks than it, the highest first and no two the same; a tree of rank r + 1 is
/// made of two of rank r. A timer that is cancelled leaves its place and its rank to a tree of its
/// children. So 2 to the power of the rank, summed over the trees, is never more than the number of
/// timers that were set since there was none, no rank passes 63, and each step below touches at
/// most some timers for each rank: 17 ranks after 100 000, 30 after 10^9.
class timer_queue {
public:
    /// True: it is the earliest now, so whoever sleeps until the earliest must be woken. A time
    /// that has passed fires at the next look. O(1) amortised, O(log n).
    bool set(timer& t, timer::clock::time_point due) noexcept;

    /// True: it was set and will not fire. False: it has fired, or another thread is about to call
    /// `fire` or is inside it. O(log n).
    bool cancel(timer& t) noexcept;

    bool empty() const noexcept {
        return m_earliest.load(std::memory_order_seq_cst) == timer::clock::time_point::max();
    }
    /// time_point::max() when there is none, min() while one fires.
    timer::clock::time_point earliest() const noexcept {
        return m_earliest.load(std::memory_order_seq_cst);
    }

    /// Whether there is any, for one who looks often and need not be exact.
    bool any() const noexcept {
        return m_look_at.load(std::memory_order_relaxed) != std::numeric_limits<tick_count>::max();
    }

    /// Whether it is worth calling fire_due, judged by a time stamp that is at hand. Never true
    /// when there is no timer.
    bool may_be_due(tick_count now) const noexcept {
        return now >= m_look_at.load(std::memory_order_relaxed);
    }

    /// Fires all whose time has come, the earliest first, and says how many. O(log n) for each.
    std::size_t fire_due() noexcept;

private:
    using time_point = timer::clock::time_point;

    /// Timers lie far apart, on cold stacks; what is compared often lies here.
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
    std::uint64_t m_ranks = 0;  ///< a bit for each tree that there is
    time_point m_due = time_point::max();
    int m_firing = 0;  ///< threads inside a timer's `fire`: until then the queue is not empty
    std::atomic<timer::clock::time_point> m_earliest{timer::clock::time_point::max()};
    std::atomic<tick_count> m_look_at{std::numeric_limits<tick_count>::max()};
};

}  // namespace quern::detail
