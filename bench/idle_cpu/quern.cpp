// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::idle_cpu {

namespace {

const contender group{"idle_cpu", "task_group", [](const arguments& a) {
                          return idle_after(a, [rt = quern_runtime(a)](long tasks, auto one) {
                              quern::async(*rt, [tasks, &one] {
                                  quern::task_group all;
                                  for (long i = 0; i < tasks; ++i) {
                                      all.run(one);
                                  }
                                  all.wait();
                              }).get();
                          });
                      }};

}  // namespace

}  // namespace bench::idle_cpu
