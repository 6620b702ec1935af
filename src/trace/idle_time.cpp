// SPDX-License-Identifier: BSL-1.0
// A walk along the slices and sleeps of a lane, both in order of time.
#include "idle_time.hpp"

#include <algorithm>

namespace quern::trace::detail {

namespace {

/// Taking a task takes less than a microsecond and a worker searches 50 us before it sleeps; what
/// is longer than both together is not the runtime's work. The page says this figure in words.
constexpr std::uint64_t k_longest_gap_ns = 100'000;

}  // namespace

std::uint64_t recorded_until(const lane& one, std::uint64_t duration_ns) {
    if (one.dropped == 0) {
        return duration_ns;
    }
    std::uint64_t last = one.slices.empty() ? 0 : one.slices.back().end_ns;
    if (!one.parked.empty()) {
        last = std::max(last, one.parked.back().end_ns);
    }
    return std::min(last, duration_ns);
}

std::vector<interval> idle_intervals(const lane& one, std::uint64_t duration_ns) {
    std::vector<interval> idle;
    std::uint64_t at = 0;
    const auto gap_until = [&](std::uint64_t end) {
        if (end > at && end - at > k_longest_gap_ns) {
            idle.push_back({at, end});
        }
    };
    auto sleep = one.parked.begin();
    const auto sleeps_until = [&](std::uint64_t time) {
        for (; sleep != one.parked.end() && sleep->begin_ns < time; ++sleep) {
            gap_until(sleep->begin_ns);
            if (sleep->end_ns > sleep->begin_ns) {
                idle.push_back(*sleep);
            }
            at = std::max(at, sleep->end_ns);
        }
    };
    for (const slice& piece : one.slices) {
        sleeps_until(piece.begin_ns);
        gap_until(piece.begin_ns);
        at = std::max(at, piece.end_ns);
    }
    sleeps_until(duration_ns);
    gap_until(recorded_until(one, duration_ns));
    return idle;
}

}  // namespace quern::trace::detail
