// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::wake_latency {

namespace {

void spawn_and_watch(wake_up& w, const quern::task_attributes& wanted) {
    w.stay_busy();
    w.spawns();
    auto task = quern::async(wanted, [&w] { w.starts(); });
    w.watch();
    task.get();
}

const contender any{"wake_latency", "async", [](const arguments& a) {
                        return quern_job(a, [count = a.size] {
                            return wake_ups(count, [](wake_up& w) { spawn_and_watch(w, {}); });
                        });
                    }};

/// For a named worker: policies that do not steal need it.
const contender hinted{"wake_latency", "hinted", [](const arguments& a) {
                           return quern_job(a, [count = a.size] {
                               return wake_ups(count, [](wake_up& w) {
                                   spawn_and_watch(w, {.worker = quern::current_worker_rank() + 1});
                               });
                           });
                       }};

const contender outside{"wake_latency_outside", "async", [](const arguments& a) -> job {
                            return [rt = quern_runtime(a), count = a.size] {
                                return wake_ups(count, [&rt](wake_up& w) {
                                    w.sleep();
                                    w.spawns();
                                    quern::async(*rt, [&w] { w.starts(); }).get();
                                });
                            };
                        }};

/// The calling thread takes part, so no other one has to wake up.
const contender guest{"wake_latency_outside", "parallel_for", [](const arguments& a) -> job {
                          return [rt = quern_runtime(a), count = a.size] {
                              return wake_ups(count, [](wake_up& w) {
                                  w.sleep();
                                  w.spawns();
                                  quern::parallel_for(0, 1, [&w](int) { w.starts(); });
                              });
                          };
                      }};

}  // namespace

}  // namespace bench::wake_latency
