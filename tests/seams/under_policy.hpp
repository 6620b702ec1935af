// SPDX-License-Identifier: BSL-1.0
// Checks for every scheduling policy, also a program's own: every way to make tasks and to wait for
// them, on 1, 2 and 8 workers.
#pragma once

#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace quern_test {

inline long fib(int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

/// Deep and broad, with a wait in each task.
inline int tree_of_futures(int depth) {
    if (depth == 0) {
        return 1;
    }
    auto left = quern::async([depth] { return tree_of_futures(depth - 1); });
    auto right = quern::async([depth] { return tree_of_futures(depth - 1); });
    return left.get() + right.get();
}

inline quern::task<int> coroutine_sum(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += co_await quern::async([i] { return i; });
    }
    co_return sum;
}

inline int run_group(int tasks) {
    std::atomic<int> count{0};
    quern::task_group group;
    for (int i = 0; i < tasks; ++i) {
        group.run([&count] { count.fetch_add(1); });
    }
    group.wait();
    return count.load();
}

/// Tasks that wait for later tasks: each stage wakes the next.
inline int run_chain(int stages) {
    std::vector<quern::promise<int>> handed(static_cast<std::size_t>(stages) + 1);
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i + 1 < handed.size(); ++i) {
        all.push_back(quern::async([&from = handed[i], &to = handed[i + 1]] {
            to.set_value(from.get_future().get() + 1);
        }));
    }
    handed.front().set_value(0);
    const int last = handed.back().get_future().get();
    for (auto& each : all) {
        each.get();
    }
    return last;
}

inline int run_hinted(int tasks) {
    std::vector<quern::future<int>> all;
    for (int i = 0; i < tasks; ++i) {
        all.push_back(quern::async({.urgency = static_cast<quern::priority>(i % 3),
                                    .worker = i % 4 == 0 ? -1 : i,
                                    .numa_node = i % 5 == 0 ? 0 : -1},
                                   [] { return 1; }));
    }
    int sum = 0;
    for (auto& each : all) {
        sum += each.get();
    }
    return sum;
}

class under_policy : public testing::TestWithParam<unsigned> {
protected:
    static void runs_everything(const std::string& policy) {
        std::atomic<int> ended{0};
        {
            const quern::runtime rt(quern::runtime_options::with_workers(GetParam(), policy));
            EXPECT_EQ(rt.default_pool().policy(), policy);
            quern::async(rt, [] {
                EXPECT_EQ(fib(18), 2584);
                EXPECT_EQ(tree_of_futures(9), 512);
                EXPECT_EQ(run_group(2'000), 2'000);
                EXPECT_EQ(run_chain(100), 100);
                EXPECT_EQ(run_hinted(600), 600);
                EXPECT_EQ(quern::start(coroutine_sum(50)).get(), 1225);
                quern::this_task::sleep_for(std::chrono::milliseconds(1));
            }).get();
            runs_what_comes_from_outside(rt);
            runs_all_when_workers_are_throttled(rt);
            for (int i = 0; i < 100; ++i) {  // the end of the runtime waits for them
                quern::post({.pool = &rt.default_pool().get()}, [&ended] {
                    quern::this_task::yield();
                    ended.fetch_add(1);
                });
            }
        }
        EXPECT_EQ(ended.load(), 100);
    }

private:
    static void runs_what_comes_from_outside(const quern::runtime& rt) {
        std::vector<quern::future<int>> all;
        for (int i = 0; i < 200; ++i) {
            all.push_back(quern::async(rt, [] { return tree_of_futures(2); }));
        }
        for (auto& each : all) {
            EXPECT_EQ(each.get(), 4);
        }
    }

    static void runs_all_when_workers_are_throttled(const quern::runtime& rt) {
        quern::async(rt, [&rt] {
            std::atomic<int> count{0};
            quern::task_group group;
            for (int i = 0; i < 500; ++i) {
                group.run([&count] { count.fetch_add(1); });
                if (i == 250) {
                    rt.default_pool().set_active_workers(1);
                }
            }
            group.wait();
            EXPECT_EQ(count.load(), 500);
            rt.default_pool().set_active_workers(GetParam());
        }).get();
    }
};

/// Of ten tasks that a task makes without waiting for them.
inline std::string order_on_one_worker(const std::string& policy) {
    std::string order;
    {
        const quern::runtime rt(quern::runtime_options::with_workers(1, policy));
        quern::async(rt, [&order] {
            for (int i = 0; i < 10; ++i) {
                quern::post(
                    [&order, i] { order += (order.empty() ? "" : " ") + std::to_string(i); });
            }
        }).get();
    }
    return order;
}

}  // namespace quern_test
