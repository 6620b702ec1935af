// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::future_round_trip {

namespace {

long through_task(long i) {
    long answer = 0;
#pragma omp task shared(answer) firstprivate(i)
    answer = i;
#pragma omp taskwait
    return answer;
}

const contender task{"future_round_trip", "task", [](const arguments& a) {
                         return openmp_job(
                             a, [trips = a.size] { return round_trips(trips, through_task); });
                     }};

}  // namespace

}  // namespace bench::future_round_trip
