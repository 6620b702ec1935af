// SPDX-License-Identifier: BSL-1.0
// How much of a worker's time is the runtime's own work: making, queueing, beginning, switching and
// settling tasks. A stretch of that work between two pieces of user code takes little longer than
// two clock readings. So some stretches are timed, and each stands for those that were passed over.
// Called by the loop and by everything that stands around user code. Never times user code.
// Why it has no bias: docs/design/0013-one-definition-of-overhead.md.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/config.hpp>
#include <quern/base/relaxed.hpp>

#include <cstdint>

namespace quern::detail {

/// The worker writes, any thread reads the sums. No read-modify-write.
class overhead_clock {
public:
    /// What a stretch is: the making of a task, or all else.
    enum class part : std::uint8_t { making, running };

    /// A stretch begins. True: it is timed.
    QUERN_ALWAYS_INLINE bool begins(part what) noexcept {
        if constexpr (!k_counters) {
            return false;
        }
        return --m_left == 0 && begin_timed(what);
    }

    /// A stretch ends, user code follows. For how many it stood; 0 when it was not timed.
    QUERN_ALWAYS_INLINE std::uint32_t ends() noexcept {
        if constexpr (!k_counters) {
            return 0;
        }
        return m_open == 0 ? 0 : end_timed();
    }

    /// For one who runs tasks in turn, between two of them. There a stretch is from the end of a
    /// body to the beginning of the next one, and is not divided: the measured parts would together
    /// be longer than it, for the processor overlaps them.
    QUERN_ALWAYS_INLINE void between_bodies() noexcept {
        if constexpr (!k_counters) {
            return;
        }
        if (m_open != 0) [[unlikely]] {
            m_ends_at_body = true;
        } else if (--m_left == 0) [[unlikely]] {
            begin_after_body();
        }
    }

    /// The user code has ended, before which a stretch that stood for so many has ended.
    QUERN_ALWAYS_INLINE void goes_on(std::uint32_t weight) noexcept {
        if (k_counters && weight != 0) [[unlikely]] {
            go_on_timed(weight);
        }
    }

    /// Work that is always timed, and no part of a stretch that is going on: calls of the kernel.
    void add(tick_count spent) noexcept {
        m_always = m_always + spent;
        m_begun += spent;
    }

    /// In ticks. All includes making.
    struct sums {
        double all = 0;
        double making = 0;
    };
    sums read() const noexcept;

private:
    /// Ticks of timed stretches, and how many clock readings are among them; both weighted.
    struct timed {
        relaxed<tick_count> ticks{0};
        relaxed<std::uint64_t> stretches{0};
        double net(double reading) const noexcept;
    };

    QUERN_COLD bool begin_timed(part what) noexcept;
    QUERN_COLD void begin_after_body() noexcept;
    QUERN_COLD std::uint32_t end_timed() noexcept;
    QUERN_COLD void go_on_timed(std::uint32_t weight) noexcept;
    std::uint32_t draw() noexcept;
    void adapt(tick_count now) noexcept;
    static double reading() noexcept;
    static double measure_reading() noexcept;

    // Invariant: m_left was drawn at random, so that m_next is the mean of what it can be.
    std::uint32_t m_left = 1;  ///< stretches until the next one is timed
    std::uint32_t m_open = 0;  ///< for how many the present one stands, or 0
    std::uint32_t m_next = 1;  ///< the same of the next one that is timed
    std::uint32_t m_interval = 1;
    part m_what = part::running;
    bool m_waits_for_body = false;  ///< the present one begins when the next body has ended
    bool m_ends_at_body = false;    ///< the present one does not go on after the next body
    tick_count m_begun = 0;
    tick_count m_last = 0;  ///< when a timed one ended
    std::uint64_t m_random = 1;
    timed m_making;
    timed m_running;
    relaxed<tick_count> m_always{0};
};

}  // namespace quern::detail
