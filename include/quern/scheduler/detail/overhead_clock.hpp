// SPDX-License-Identifier: BSL-1.0
// How much of a worker's time is the runtime's own work: making, queueing, beginning, switching and
// settling tasks. A stretch of that work between two pieces of user code takes little longer than
// two clock readings. So some stretches are timed, and each stands for those that were passed over.
// The piece of user code that follows a timed stretch is timed for its site, with the same weight.
// Called by the loop and by everything that stands around user code.
// Why it has no bias: docs/design/0013-one-definition-of-overhead.md, 0023-seams.md ("Sites").
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/base/detail/relaxed.hpp>

#include <cstdint>

namespace quern::detail {

class site_counts;
struct site_tally;

/// The worker writes, any thread reads the sums. No read-modify-write.
class overhead_clock {
public:
    /// What a stretch is: the making of a task, or all else.
    enum class part : std::uint8_t { making, running };

    /// What follows a stretch: more of the runtime's own work, user code, or the beginning of a
    /// task's function.
    enum class next : std::uint8_t { own_work, user_code, task };

    /// Before any stretch: where the worker counts sites. The tasks are those that run on the
    /// calling thread.
    void count_sites_in(site_counts& sites) noexcept { m_sites = &sites; }

    /// A stretch begins. True: it is timed.
    QUERN_ALWAYS_INLINE bool begins(part what) noexcept {
        if constexpr (!k_counters) {
            return false;
        }
        return --m_left == 0 && begin_timed(what);
    }

    /// A stretch ends. For how many it stood; 0 when it was not timed.
    QUERN_ALWAYS_INLINE std::uint32_t ends(next what) noexcept {
        if constexpr (!k_counters) {
            return 0;
        }
        return m_open == 0 ? 0 : end_timed(what);
    }

    /// For one who runs tasks in turn, between two of them. There a stretch is from the end of a
    /// body to the beginning of the next one, and is not divided: the measured parts would together
    /// be longer than it, for the processor overlaps them.
    QUERN_ALWAYS_INLINE void between_bodies() noexcept {
        if constexpr (!k_counters) {
            return;
        }
        if (m_open != 0) [[unlikely]] {
            end_at_body();
        } else if (--m_left == 0) [[unlikely]] {
            begin_after_body();
        }
    }

    /// The user code has ended, before which a stretch that stood for so many has ended.
    QUERN_ALWAYS_INLINE void resumes(std::uint32_t weight) noexcept {
        if (k_counters && weight != 0) [[unlikely]] {
            resume_timed(weight);
        }
    }

    /// A task ends that ran in the place of another one, whose code follows: the present piece is
    /// the former's.
    QUERN_ALWAYS_INLINE void ends_in_place() noexcept {
        if (k_counters && m_piece_of != nullptr) [[unlikely]] {
            end_piece();
        }
    }

    /// Work that is always timed and is not part of the current stretch: calls of the kernel.
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

    /// What two clock readings add to what is between them, in ticks.
    static double reading() noexcept;

private:
    /// Ticks of timed stretches, and how many clock readings are among them; both weighted.
    struct timed {
        relaxed<tick_count> ticks{0};
        relaxed<std::uint64_t> stretches{0};
        double net(double reading) const noexcept;
    };

    QUERN_COLD bool begin_timed(part what) noexcept;
    QUERN_COLD void begin_after_body() noexcept;
    QUERN_COLD void end_at_body() noexcept;
    QUERN_COLD std::uint32_t end_timed(next what) noexcept;
    QUERN_COLD void resume_timed(std::uint32_t weight) noexcept;
    QUERN_COLD void end_piece() noexcept;
    void begin_piece(std::uint32_t weight, next what) noexcept;
    void note_stretch(std::uint32_t stood_for, tick_count spent) noexcept;
    bool is_turn() noexcept;
    std::uint32_t draw() noexcept;
    void adapt(tick_count now) noexcept;
    static double measure_reading() noexcept;

    // Invariant: m_left was drawn at random, so that m_next is the mean of what it can be. While a
    // piece of user code is timed it is 1, so that the next stretch ends the piece, and that number
    // is in m_kept.
    std::uint32_t m_left = 1;  ///< stretches until the next one is timed
    std::uint32_t m_open = 0;  ///< for how many the present one stands, or 0
    std::uint32_t m_next = 1;  ///< the same of the next one that is timed
    std::uint32_t m_interval = 1;
    part m_what = part::running;
    bool m_waits_for_body = false;  ///< the present one begins when the next body has ended
    bool m_ends_at_body = false;    ///< the current one ends at the next body
    std::uint32_t m_chosen = 0;     ///< then: for how many the next one stands, or 0
    std::uint32_t m_kept = 0;
    std::uint32_t m_piece_weight = 0;
    site_tally* m_piece_of = nullptr;  ///< whose code is timed, or null
    tick_count m_piece_begun = 0;
    site_counts* m_sites = nullptr;
    tick_count m_begun = 0;
    tick_count m_last = 0;  ///< when a timed one ended
    std::uint64_t m_random = 1;
    timed m_making;
    timed m_running;
    relaxed<tick_count> m_always{0};
};

}  // namespace quern::detail
