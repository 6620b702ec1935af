// SPDX-License-Identifier: BSL-1.0
// When a searching worker may give its processor away. On a machine with many running threads a
// yield may take as long as all of them run, one after the other: tens of ms, where a thread that
// sleeps has the processor soon after it is woken. Nothing tells before what a yield will take, so
// one that took long forbids more of them for a time that is long against it.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>

#include <algorithm>

namespace quern::detail {

/// Of one thread.
class yield_budget {
public:
    /// False: sleep instead.
    bool may_yield(tick_count now) const noexcept { return now >= m_forbidden_until; }

    /// Gives the processor to another thread and notes what that took.
    void yield() noexcept;

    /// Notes a yield between these times.
    void spend(tick_count before, tick_count after) noexcept {
        const tick_count lost = after > before ? after - before : 0;
        if (lost > ticks_of_ns(k_short_ns)) {
            m_forbidden_until = after + std::min(k_rest * lost, ticks_of_ns(k_longest_rest_ns));
        }
    }

private:
    /// A yield to a thread that waits too takes 0.3 to 10 us; one to a thread that computes, 700 us
    /// or more (Linux 6.18, two cores).
    static constexpr double k_short_ns = 200e3;
    /// Yields thus take at most one part in so many of a thread's time.
    static constexpr tick_count k_rest = 100;
    static constexpr double k_longest_rest_ns = 10e9;

    tick_count m_forbidden_until = 0;
};

}  // namespace quern::detail
