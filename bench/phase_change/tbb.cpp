// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

namespace bench::phase_change {

namespace {

const contender group{"phase_change", "task_group", [](const arguments& a) {
                          return tbb_job(a, [all = std::make_shared<phases>(a)] {
                              return all->run([](long count, auto one) {
                                  tbb::task_group tasks;
                                  for (long i = 0; i < count; ++i) {
                                      tasks.run([&one, i] { one(i); });
                                  }
                                  tasks.wait();
                              });
                          });
                      }};

}  // namespace

}  // namespace bench::phase_change
