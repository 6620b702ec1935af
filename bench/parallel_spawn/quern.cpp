// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

#include <algorithm>

namespace bench::parallel_spawn {

namespace {

/// Each iteration forks its task and joins it: no fork outlives its iteration.
void with_forks(auto tasks, long n) {
    quern::parallel_for(0L, n, [tasks](quern::fork_context c, long i) {
        tasks.spawn(i, [c](auto task) { quern::fork_join(c, task, [] {}); });
    });
}

/// A scope for each thousand iterations: their tasks are in the queue together.
void with_scopes(auto tasks, long n) {
    constexpr long k_block = 1024;
    quern::parallel_for(0L, (n + k_block - 1) / k_block, [tasks, n](quern::fork_context c, long b) {
        quern::scope(c, [tasks, n, b](quern::fork_scope& s) {
            for (long i = b * k_block; i < std::min(n, (b + 1) * k_block); ++i) {
                tasks.spawn(i, [&s](auto task) { s.spawn(task); });
            }
        });
    });
}

/// One group for all: each task is allocated and queued by its iteration's worker.
void in_group(auto tasks, long n) {
    quern::task_group group;
    quern::parallel_for(0L, n, [tasks, &group](long i) {
        tasks.spawn(i, [&group](auto task) { group.run(task); });
    });
    group.wait();
}

const contender fork{"parallel_spawn", "fork", [](const arguments& a) {
                         return null_by_quern(a, [](auto t, long n) { with_forks(t, n); });
                     }};
const contender scope{"parallel_spawn", "scope", [](const arguments& a) {
                          return null_by_quern(a, [](auto t, long n) { with_scopes(t, n); });
                      }};
const contender group{"parallel_spawn", "task_group", [](const arguments& a) {
                          return null_by_quern(a, [](auto t, long n) { in_group(t, n); });
                      }};

}  // namespace

}  // namespace bench::parallel_spawn
