// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

#include <future>

namespace bench::wake_latency {

namespace {

const contender group{"wake_latency", "task_group", [](const arguments& a) {
                          return tbb_job(a, [count = a.size] {
                              tbb::task_group tasks;
                              return wake_ups(count, [&tasks](wake_up& w) {
                                  w.stay_busy();
                                  w.spawns();
                                  tasks.run([&w] { w.starts(); });
                                  w.watch();
                                  tasks.wait();
                              });
                          });
                      }};

const contender outside{"wake_latency_outside", "enqueue", [](const arguments& a) -> job {
                            return [rt = std::make_shared<tbb_workers>(a.workers), count = a.size] {
                                return wake_ups(count, [&rt](wake_up& w) {
                                    const auto ended = std::make_shared<std::promise<void>>();
                                    w.sleep();
                                    w.spawns();
                                    rt->arena.enqueue([&w, ended] {
                                        w.starts();
                                        ended->set_value();
                                    });
                                    ended->get_future().get();
                                });
                            };
                        }};

const contender arena{"wake_latency_outside", "execute", [](const arguments& a) -> job {
                          return [rt = std::make_shared<tbb_workers>(a.workers), count = a.size] {
                              return wake_ups(count, [&rt](wake_up& w) {
                                  w.sleep();
                                  w.spawns();
                                  rt->arena.execute([&w] { w.starts(); });
                              });
                          };
                      }};

}  // namespace

}  // namespace bench::wake_latency
