// SPDX-License-Identifier: BSL-1.0
// Sampling of short tasks on a worker. Recording a task takes about as long as a tiny task, so only
// some are recorded, and each represents the unsampled ones before it. Tasks of 2 us or more are
// all recorded: they are few, and a single one can matter. Used only by the worker, except aim().
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/relaxed.hpp>

#include <algorithm>
#include <cstdint>

namespace quern::trace::detail {

/// Minimum duration of a long task. Guessed: recording one costs a fortieth of it.
inline quern::detail::tick_count long_time() noexcept {
    static const auto ticks = quern::detail::ticks_of_ns(2'000);
    return ticks;
}

class sampling {
public:
    using tick_count = quern::detail::tick_count;

    static constexpr std::uint32_t k_all = 1;
    static constexpr std::uint32_t k_auto = 0;
    static constexpr std::uint32_t k_most = 0x8000;

    /// Cost factor of recording with kernel events. (guessed from 1 us per reading, two readings
    /// per task)
    static constexpr std::uint32_t k_measured = 20;

    /// From now on samples one task in `wanted`. k_auto: about one in 2 us, multiplied by `times`.
    /// Any thread.
    void aim(std::uint32_t wanted, std::uint32_t times = 1) noexcept {
        m_wanted = wanted;
        m_times = times;
        m_interval = std::clamp(wanted, 1U, k_most);
        m_tasks = {};
    }
    bool takes_all() const noexcept { return m_wanted == k_all; }

    /// A task begins: returns how many tasks it represents, or 0 if it is not sampled.
    std::uint16_t weigh() noexcept { return weigh(m_tasks); }

    /// A sampled task begins at this time. Doubles the interval if the previous one was less than 2
    /// us ago, halves it if more than 8 us; both multiplied by `times`.
    void adapt(tick_count now) noexcept {
        if (m_wanted != k_auto) {
            return;
        }
        const tick_count since = now - m_last;
        m_last = now;
        if (since < m_times * long_time()) {
            m_interval = std::min(2 * m_interval, k_most);
        } else if (since > 4 * m_times * long_time()) {
            m_interval = std::max(m_interval / 2, 1U);
        }
    }

private:
    template <class T>
    using relaxed = quern::detail::relaxed<T>;

    struct countdown {
        relaxed<std::uint32_t> left = 1;
        relaxed<std::uint32_t> weight = 1;
    };

    /// The next sample comes after 1 to 2n - 1 tasks, at random, to avoid aliasing with programs
    /// that create several kinds of tasks in turn. The mean n is the weight.
    std::uint16_t weigh(countdown& of) noexcept {
        if (of.left > 1) {
            of.left = of.left - 1;
            return 0;
        }
        const std::uint32_t weight = of.weight;
        of.weight = static_cast<std::uint32_t>(m_interval);
        m_random = m_random * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
        of.left = 1 + static_cast<std::uint32_t>((m_random >> 33) % (2 * of.weight - 1));
        return static_cast<std::uint16_t>(weight);
    }

    relaxed<std::uint32_t> m_wanted = k_all;
    relaxed<std::uint32_t> m_interval = 1;
    relaxed<std::uint32_t> m_times = 1;
    countdown m_tasks;
    relaxed<tick_count> m_last = 0;
    relaxed<std::uint64_t> m_random = 1;
};

}  // namespace quern::trace::detail
