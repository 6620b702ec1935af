// SPDX-License-Identifier: BSL-1.0
// task_group: spawning, waiting, reuse; which task may do what. Errors and cancellation are in
// task_group_errors_test.cpp.
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <vector>

namespace {

using quern::task_group;
using quern_test::scaled;

class task_group_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(task_group_test);

// Holds: task_group: wait() without tasks does not wait.
TEST_P(task_group_test, without_tasks_does_not_wait) {
    inside([] {
        task_group group;
        group.wait();
        group.wait();
    });
}

// Holds: task_group: run() starts a task; wait() returns when every task has ended.
// Holds: task_group: What the tasks did happens before the return of wait().
TEST_P(task_group_test, waits_for_every_task) {
    inside([] {
        for (const std::size_t n : {1U, 2U, 10U, 1000U, 10'000U}) {
            std::vector<int> runs(n, 0);
            task_group group;
            for (int& r : runs) {
                group.run([&r] { ++r; });
            }
            group.wait();
            ASSERT_EQ(runs, std::vector<int>(n, 1)) << n;
        }
    });
}

// Holds: task_group: The group can be used again after wait().
TEST_P(task_group_test, can_be_used_again) {
    inside([] {
        int sum = 0;
        task_group group;
        for (int round = 0; round < 200; ++round) {
            std::vector<int> runs(10, 0);
            for (int& r : runs) {
                group.run([&r] { ++r; });
            }
            group.wait();
            for (const int r : runs) {
                sum += r;
            }
        }
        EXPECT_EQ(sum, 2000);
    });
}

// Holds: task_group: The destructor waits.
TEST_P(task_group_test, waits_in_its_destructor) {
    inside([] {
        std::vector<int> runs(100, 0);
        {
            task_group group;
            for (int& r : runs) {
                group.run([&r] {
                    quern_test::let_others_run();
                    ++r;
                });
            }
        }
        EXPECT_EQ(runs, std::vector<int>(100, 1));
    });
}

// Holds: task_group: Tasks of the group may run more tasks in it.
TEST_P(task_group_test, takes_tasks_from_its_tasks) {
    struct tree {
        static void grow(task_group& group, std::vector<int>& runs, std::size_t i) {
            ++runs[i];
            for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
                if (child < runs.size()) {
                    group.run([&group, &runs, child] { grow(group, runs, child); });
                }
            }
        }
    };
    inside([] {
        for (int round = 0; round < 10; ++round) {
            std::vector<int> runs(scaled(5'000U, 500U), 0);
            task_group group;
            group.run([&] { tree::grow(group, runs, 0); });
            group.wait();
            ASSERT_EQ(runs, std::vector<int>(runs.size(), 1));
        }
    });
}

// Holds: task_group: Owner and tasks may...
TEST_P(task_group_test, nests) {
    inside([] {
        std::vector<int> runs(400, 0);
        task_group outer;
        for (std::size_t i = 0; i < 20; ++i) {
            outer.run([&runs, i] {
                task_group inner;
                for (std::size_t k = 0; k < 20; ++k) {
                    inner.run([&runs, i, k] { ++runs[20 * i + k]; });
                }
                inner.wait();
                for (std::size_t k = 0; k < 20; ++k) {
                    EXPECT_EQ(runs[20 * i + k], 1);
                }
            });
        }
        outer.wait();
        EXPECT_EQ(runs, std::vector<int>(400, 1));
    });
}

long fib(int n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    const long b = fib(n - 2);
    group.wait();
    return a + b;
}

TEST_P(task_group_test, computes_fibonacci) {
    constexpr int n = scaled(20, 14);  // oldest first: the whole tree is suspended at once
    EXPECT_EQ(inside([] { return fib(n); }), scaled(6765, 377));
}

/// A chain of groups, each of which waits for the next: deeper than one stack.
void descend(int depth) {
    if (depth != 0) {
        task_group group;
        group.run([depth] { descend(depth - 1); });
        group.wait();
    }
}

// Holds: task_group: Owner and tasks may...
TEST_P(task_group_test, may_be_nested_deeply) {
    inside([] { descend(scaled(20'000, 1'000)); });
}

// Holds: task_group: Owner and tasks may suspend and change workers; groups may nest to any depth.
TEST_P(task_group_test, lets_tasks_suspend) {
    inside([] {
        std::vector<int> runs(300, 0);
        task_group group;
        for (int& r : runs) {
            group.run([&r] {
                quern_test::let_others_run();
                ++r;
                quern_test::let_others_run();
            });
        }
        group.wait();
        EXPECT_EQ(runs, std::vector<int>(300, 1));
    });
}

// Holds: task_group: Owner and tasks may...
TEST_P(task_group_test, may_change_worker_while_it_is_in_use) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    inside([] {
        for (int i = 0; i < 20; ++i) {
            std::vector<int> runs(20, 0);
            task_group group;
            for (int& r : runs) {
                group.run([&r] { ++r; });
            }
            EXPECT_TRUE(quern_test::move_to_another_worker());
            group.wait();
            ASSERT_EQ(runs, std::vector<int>(20, 1));
        }
    });
}

// Holds: task_group: run() takes attributes, and closures that can only be moved.
TEST_P(task_group_test, takes_attributes_and_closures_that_cannot_be_copied) {
    inside([] {
        int high = 0, low = 0, large = 0, owned = 0;
        task_group group;
        group.run({.urgency = quern::priority::high}, [&] { high = 1; });
        group.run({.urgency = quern::priority::low}, [&] { low = 1; });
        group.run({.stack = quern::stack_class::large, .worker = 0}, [&] {
            volatile char room[1 << 20];
            room[0] = 1;
            large = room[0];
        });
        group.run([&owned, p = std::make_unique<int>(1)] { owned = *p; });
        group.wait();
        EXPECT_EQ(high + low + large + owned, 4);
    });
}

// Holds: task_group: wait() waits for the tasks of its own group alone.
TEST_P(task_group_test, leaves_tasks_alone_that_are_not_its_own) {
    inside([] {
        std::vector<int> mine(50, 0), others(50, 0);
        std::vector<quern::future<void>> futures;
        task_group group;
        for (std::size_t i = 0; i < 50; ++i) {
            futures.push_back(quern::async([&o = others[i]] { ++o; }));
            group.run([&m = mine[i]] { ++m; });
        }
        group.wait();
        EXPECT_EQ(mine, std::vector<int>(50, 1));
        for (auto& f : futures) {
            f.get();
        }
        EXPECT_EQ(others, std::vector<int>(50, 1));
    });
}

// Holds: task_group: The owner may be a thread that is no worker.
TEST_P(task_group_test, may_be_owned_by_a_thread_outside) {
    std::vector<int> runs(500, 0);
    task_group group(rt.default_pool());
    for (int round = 1; round <= 5; ++round) {
        for (int& r : runs) {
            group.run([&r] { ++r; });
        }
        group.wait();
        ASSERT_EQ(runs, std::vector<int>(500, round));
    }
}

// Holds: task_group: Made for a pool, its tasks run there.
TEST_P(task_group_test, may_run_its_tasks_on_another_pool) {
    quern::runtime other(quern::runtime_options::with_workers(2));
    inside([&] {
        for (int round = 0; round < 20; ++round) {
            std::vector<int> runs(50, 0);
            task_group group(other.default_pool());
            for (int& r : runs) {
                group.run([&r, &other] {
                    EXPECT_EQ(&quern::current_pool().get(), &other.default_pool().get());
                    ++r;
                });
            }
            group.wait();
            ASSERT_EQ(&quern::current_pool().get(), &rt.default_pool().get());
            ASSERT_EQ(runs, std::vector<int>(50, 1));
        }
    });
}

}  // namespace
