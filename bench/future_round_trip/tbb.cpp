// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

#include <future>

namespace bench::future_round_trip {

namespace {

const contender group{"future_round_trip", "task_group", [](const arguments& a) {
                          return tbb_job(a, [trips = a.size] {
                              tbb::task_group tasks;
                              return round_trips(trips, [&tasks](long i) {
                                  long answer = 0;
                                  tasks.run([&answer, i] { answer = i; });
                                  tasks.wait();
                                  return answer;
                              });
                          });
                      }};

const contender outside{"future_round_trip_outside", "enqueue", [](const arguments& a) -> job {
                            return [rt = std::make_shared<tbb_workers>(a.workers),
                                    trips = fewer(a.size)] {
                                return round_trips(trips, [&rt](long i) {
                                    const auto answer = std::make_shared<std::promise<long>>();
                                    rt->arena.enqueue([answer, i] { answer->set_value(i); });
                                    return answer->get_future().get();
                                });
                            };
                        }};

}  // namespace

}  // namespace bench::future_round_trip
