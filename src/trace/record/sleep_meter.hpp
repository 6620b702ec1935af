// SPDX-License-Identifier: BSL-1.0
// Time in which a worker's thread slept in the kernel or had no processor, by task: the difference
// between wall time and the thread's run time, at the end of each long piece. Called by the track
// of a worker, on that worker. Cost: a system call (0.3 us) per long piece, and another (10 us) if
// there is a difference.
#pragma once

#include "record/sink.hpp"

namespace quern::trace::detail {

/// Of a piece in which the worker's thread did not run, in nanoseconds.
struct piece_losses {
    double slept = 0;
    double lost = 0;        ///< ready without a processor
    double lost_error = 0;  ///< so much of that may have been before the piece
};

class sleep_meter {
public:
    /// A piece begins, on the worker. Reads the clock the first time.
    void begin() noexcept {
        if (m_last.at == 0) [[unlikely]] {
            look_first();
        }
    }

    /// A piece has ended on that worker: returns what is known of the time in which its thread did
    /// not run. Nothing of a short piece, since one that lost its processor is long; and nothing if
    /// called on another thread.
    piece_losses piece(std::uint32_t rank, tick_count begin, tick_count end) noexcept;

    /// The worker has slept for lack of work.
    void parked(tick_count spent) noexcept { m_parked += spent; }

private:
    void look_first() noexcept;

    struct look {
        tick_count at = 0;
        double run_ns = 0;
        double wait_ns = 0;
    };

    look m_last;
    tick_count m_parked = 0;  ///< since the last reading
};

}  // namespace quern::trace::detail
