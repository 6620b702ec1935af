// SPDX-License-Identifier: BSL-1.0
// Backpressure: how the creator of tasks waits at a limit, by a poll of numbers, so that the end of
// a task costs nothing for it. Called at the limit of live tasks and at that of renamed versions.
// Explored exhaustively in tests/model/dependences_room_test.cpp.
#pragma once

#include <cstdint>

namespace quern::detail {

/// Lets others run until place.left() is at most `until`: true. False: nothing else can make
/// progress, so the tasks may wait for what the caller does next. `Place` has
///   left()          what is left, which only others make less
///   let_run()       other tasks run, if there are any
///   sleep()         a pause, longer from call to call; true: the longest one
///   has_moved()     something has ended: the next pause is short
///   nothing_runs()  since the tasks are suspended or held
///   only_polls()    since the last call, tasks were resumed and suspended themselves again
template <class Place>
bool wait_for_room(Place& place, std::int64_t until) noexcept {
    constexpr int k_sure_idle = 3;  // looks that find nothing running
    // Long pauses, a millisecond each, between two looks at polls: a worker that the system lets
    // wait is not taken for one that computes, and computations of that length are taken for polls
    // only if they yield.
    constexpr int k_pauses = 100;
    int idle = 0;
    int pauses = 0;
    bool is_polling = false;
    std::int64_t seen = place.left();
    while (seen > until && idle < k_sure_idle && !is_polling) {
        place.let_run();
        if (const std::int64_t now = place.left(); now < seen) {
            seen = now;
            idle = 0;
            pauses = 0;
            place.has_moved();
            continue;
        }
        if (place.sleep()) {
            const bool is_idle = place.nothing_runs();
            const bool has_polled = pauses++ % k_pauses == 0 && place.only_polls() && pauses > 1;
            const bool is_same = place.left() == seen;
            // Not one after the other: another creator may be awake to look too.
            idle += is_idle && is_same ? 1 : 0;
            is_polling = has_polled && is_same;
        }
    }
    return seen <= until;
}

}  // namespace quern::detail
