// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <future>

namespace bench::wake_latency {

namespace {

const contender inside{"wake_latency", "async", [](const arguments& a) {
                           return threads_job(a, [count = a.size] {
                               return wake_ups(count, [](wake_up& w) {
                                   w.stay_busy();
                                   w.spawns();
                                   auto task = std::async(std::launch::async, [&w] { w.starts(); });
                                   w.watch();
                                   task.get();
                               });
                           });
                       }};

const contender outside{"wake_latency_outside", "async", [](const arguments& a) {
                            return threads_job(a, [count = a.size] {
                                return wake_ups(count, [](wake_up& w) {
                                    w.sleep();
                                    w.spawns();
                                    std::async(std::launch::async, [&w] { w.starts(); }).get();
                                });
                            });
                        }};

}  // namespace

}  // namespace bench::wake_latency
