// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::serial_spawn {

namespace {

/// Runs the task in the spawn while the stack's deque is full.
void in_scope(auto tasks, long n) {
    quern::scope([tasks, n](quern::fork_scope& s) {
        for (long i = 0; i < n; ++i) {
            tasks.spawn(i, [&s](auto task) { s.spawn(task); });
        }
    });
}

void fill(quern::task_group& group, auto tasks, long n) {
    for (long i = 0; i < n; ++i) {
        tasks.spawn(i, [&group](auto task) { group.run(task); });
    }
    group.wait();
}

void in_group(auto tasks, long n) {
    quern::task_group group;
    fill(group, tasks, n);
}

/// Runs tasks in the spawn when 64 are queued, as libgomp does.
void in_bounded_group(auto tasks, long n) {
    quern::task_group group(quern::bounded(64));
    fill(group, tasks, n);
}

/// Queues every task, and keeps a future of it.
void with_futures(auto tasks, long n) {
    std::vector<quern::future<void>> all;
    all.reserve(static_cast<std::size_t>(n));
    for (long i = 0; i < n; ++i) {
        tasks.spawn(i, [&all](auto task) { all.push_back(quern::async(task)); });
    }
    for (auto& one : all) {
        one.get();
    }
}

const contender scope{"serial_spawn", "scope", [](const arguments& a) {
                          return null_by_quern(a, [](auto t, long n) { in_scope(t, n); });
                      }};
const contender group{"serial_spawn", "task_group", [](const arguments& a) {
                          return null_by_quern(a, [](auto t, long n) { in_group(t, n); });
                      }};
const contender bounded{"serial_spawn", "bounded", [](const arguments& a) {
                            return null_by_quern(a, [](auto t, long n) { in_bounded_group(t, n); });
                        }};
const contender future{"serial_spawn", "future", [](const arguments& a) {
                           return null_by_quern(a, [](auto t, long n) { with_futures(t, n); });
                       }};

}  // namespace

}  // namespace bench::serial_spawn
