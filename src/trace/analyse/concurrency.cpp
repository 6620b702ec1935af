// SPDX-License-Identifier: BSL-1.0
// Equal steps of time, filled by intervals.
#include "analyse/concurrency.hpp"

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

void spread(std::span<double> steps, std::size_t stride, std::uint64_t duration_ns,
            std::uint64_t begin_ns, std::uint64_t end_ns) {
    const std::size_t count = (steps.size() + stride - 1) / stride;
    end_ns = std::min(end_ns, duration_ns);
    if (count == 0 || begin_ns >= end_ns) {
        return;
    }
    const double width = static_cast<double>(duration_ns) / static_cast<double>(count);
    const double begin = static_cast<double>(begin_ns);
    const double end = static_cast<double>(end_ns);
    for (auto i = static_cast<std::size_t>(begin / width); i < count; ++i) {
        const double left = width * static_cast<double>(i);
        if (left >= end) {
            return;
        }
        steps[i * stride] += std::max(0.0, std::min(end, left + width) - std::max(begin, left));
    }
}

concurrency_shares shares_of(const recording& run) {
    constexpr std::size_t k_steps = 1000;
    constexpr double k_nothing = 0.01;
    constexpr double k_one = 1.2;  // a step may contain the end of a parallel part
    std::vector<double> busy(k_steps, 0.0);
    for (const lane& one : run.lanes) {
        if (one.dropped != 0 || (one.slices.empty() && one.totals.tasks != 0)) {
            return {};
        }
        for (const slice& piece : one.slices) {
            spread(busy, 1, run.duration_ns, piece.begin_ns, piece.end_ns);
        }
    }
    if (run.lanes.size() < 2 || run.duration_ns == 0) {
        return {};
    }
    const double width = static_cast<double>(run.duration_ns) / static_cast<double>(k_steps);
    const auto share_below = [&](double tasks) {
        const auto below =
            std::count_if(busy.begin(), busy.end(), [=](double ns) { return ns < tasks * width; });
        return static_cast<double>(below) / static_cast<double>(k_steps);
    };
    return {.nothing = share_below(k_nothing), .at_most_one = share_below(k_one)};
}

}  // namespace quern::trace::detail
