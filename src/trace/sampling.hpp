// SPDX-License-Identifier: BSL-1.0
// Which of the short tasks on a worker are recorded. Recording one takes about as long as a tiny
// task does, so that only some are, and each stands for as many as were passed over for it. Tasks
// of 2 us or more are recorded all: their number is small, and a single one of them matters. The
// worker's own, but for aim().
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/relaxed.hpp>

#include <algorithm>
#include <cstdint>

namespace quern::trace::detail {

/// How long a long task takes. A guess: recording one costs a fortieth of that.
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

    /// How much longer recording takes where events of the kernel are read. (guessed from 1 us a
    /// reading, twice for each task)
    static constexpr std::uint32_t k_measured = 20;

    /// One in so many from now on; k_auto: so few that one comes in about 2 us, or so many times
    /// that. Any thread.
    void aim(std::uint32_t wanted, std::uint32_t times = 1) noexcept {
        m_wanted = wanted;
        m_times = times;
        m_interval = std::clamp(wanted, 1U, k_most);
        m_tasks = {};
    }
    bool takes_all() const noexcept { return m_wanted == k_all; }

    /// A task begins: for how many it stands, or 0 when it is passed over.
    std::uint16_t weigh() noexcept { return weigh(m_tasks); }

    /// One that was taken begins at this time. Doubles the interval when the last one was less than
    /// 2 us ago, halves it when that was more than 8; or so many times that.
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

    /// The next one comes after 1 to 2n - 1, at random, so that it is not in step with a program
    /// that makes tasks of several kinds in turn; after n on average, the weight.
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
