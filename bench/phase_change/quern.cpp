// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::phase_change {

namespace {

template <class SpawnAll>
job with(const arguments& a, SpawnAll spawn_all) {
    return quern_job(
        a, [all = std::make_shared<phases>(a), spawn_all] { return all->run(spawn_all); });
}

const contender scope{"phase_change", "scope", [](const arguments& a) {
                          return with(a, [](long count, auto one) {
                              quern::scope([count, &one](quern::fork_scope& tasks) {
                                  for (long i = 0; i < count; ++i) {
                                      tasks.spawn([&one, i] { one(i); });
                                  }
                              });
                          });
                      }};

const contender group{"phase_change", "task_group", [](const arguments& a) {
                          return with(a, [](long count, auto one) {
                              quern::task_group tasks;
                              for (long i = 0; i < count; ++i) {
                                  tasks.run([&one, i] { one(i); });
                              }
                              tasks.wait();
                          });
                      }};

}  // namespace

}  // namespace bench::phase_change
