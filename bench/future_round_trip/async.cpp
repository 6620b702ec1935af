// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <future>

namespace bench::future_round_trip {

namespace {

job with_threads(const arguments& a) {
    return threads_job(a, [trips = fewer(a.size)] {
        return round_trips(
            trips, [](long i) { return std::async(std::launch::async, [i] { return i; }).get(); });
    });
}

const contender here{"future_round_trip", "async", with_threads};
const contender outside{"future_round_trip_outside", "async", with_threads};

}  // namespace

}  // namespace bench::future_round_trip
