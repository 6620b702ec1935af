// SPDX-License-Identifier: BSL-1.0
// The limit of a wait that takes both a stop token and a deadline: whichever comes first ends it.
// Used by the timed waits of futures and of the synchronisation types.
#pragma once

#include <quern/scheduler/detail/timers.hpp>

#include <chrono>
#include <stop_token>

namespace quern::detail {

struct stop_or_time {
    const std::stop_token& stop;
    timer::clock::time_point deadline;
};

/// wait_on_clock() that a stop request ends too. Calls `wait(stop_or_time)` and returns its last
/// result.
template <class Clock, class Duration, class Wait>
bool wait_on_clock(const std::stop_token& stop,
                   const std::chrono::time_point<Clock, Duration>& when, Wait&& wait) {
    bool is_there = false;
    detail::wait_on_clock(when, [&](timer::clock::time_point deadline) {
        is_there = wait(stop_or_time{stop, deadline});
        return is_there || stop.stop_requested();
    });
    return is_there;
}

}  // namespace quern::detail
