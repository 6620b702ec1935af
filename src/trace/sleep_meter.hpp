// SPDX-License-Identifier: BSL-1.0
// In which tasks a worker's thread slept in the kernel: what is missing between the time on the
// wall and the time that the thread ran, at the end of each long piece. Asked by the track of a
// worker, on that worker; costs one call of the kernel (0.3 us) a long piece, and one more (10 us)
// where something is missing.
#pragma once

#include "sink.hpp"

namespace quern::trace::detail {

class sleep_meter {
public:
    /// A piece begins, on the worker. Looks once.
    void begin() noexcept {
        if (m_last.at == 0) [[unlikely]] {
            look_first();
        }
    }

    /// A piece has ended on that worker: for how many ns its thread slept in it, as far as it is
    /// known. 0 for a short piece, and when the caller is another thread.
    double piece(std::uint32_t rank, tick_count begin, tick_count end) noexcept;

    /// The worker has slept for want of work.
    void parked(tick_count spent) noexcept { m_parked += spent; }

private:
    void look_first() noexcept;

    struct look {
        tick_count at = 0;
        double run_ns = 0;
        double wait_ns = 0;
    };

    look m_last;
    tick_count m_parked = 0;  ///< since that look
};

}  // namespace quern::trace::detail
