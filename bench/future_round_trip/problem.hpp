// SPDX-License-Identifier: BSL-1.0
// future_round_trip: spawn one task and wait for its result at once, repeatedly. Value: ns for a
// trip. future_round_trip_outside: the same from a thread outside the runtime. Size: the trips; a
// tenth of them where a trip needs another thread.
#pragma once

#include "../harness/figures.hpp"

namespace bench::future_round_trip {

/// `trip(i)` gets i through a task.
template <class Trip>
measurement round_trips(long trips, Trip trip) {
    const measurement m = timed(
        [&] {
            long sum = 0;
            for (long i = 0; i < trips; ++i) {
                sum += trip(i);
            }
            return sum;
        },
        [&](long sum) { expect_equal("the sum of the answers", sum, trips * (trips - 1) / 2); });
    return per_step(m, trips);
}

inline long fewer(long trips) { return trips / 10 + 1; }

}  // namespace bench::future_round_trip
