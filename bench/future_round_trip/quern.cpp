// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::future_round_trip {

namespace {

const contender future{
    "future_round_trip", "future", [](const arguments& a) {
        return quern_job(a, [trips = a.size] {
            return round_trips(trips, [](long i) { return quern::async([i] { return i; }).get(); });
        });
    }};

const contender group{"future_round_trip", "task_group", [](const arguments& a) {
                          return quern_job(a, [trips = a.size] {
                              quern::task_group tasks;
                              return round_trips(trips, [&tasks](long i) {
                                  long answer = 0;
                                  tasks.run([&answer, i] { answer = i; });
                                  tasks.wait();
                                  return answer;
                              });
                          });
                      }};

/// No future, but also one task and a wait: enough for many programs.
const contender fork{"future_round_trip", "fork_join", [](const arguments& a) {
                         return quern_job(a, [trips = a.size] {
                             return round_trips(trips, [](long i) {
                                 return quern::fork_join([i] { return i; }, [] {});
                             });
                         });
                     }};

const contender outside{"future_round_trip_outside", "future", [](const arguments& a) -> job {
                            return [rt = quern_runtime(a), trips = fewer(a.size)] {
                                return round_trips(trips, [&rt](long i) {
                                    return quern::async(*rt, [i] { return i; }).get();
                                });
                            };
                        }};

}  // namespace

}  // namespace bench::future_round_trip
