// SPDX-License-Identifier: BSL-1.0
// Requesting reports of waiting tasks while tasks run: their content is true, and no request is a
// race.
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace {

// Holds: task_report: task_report() names each suspended task and what it waits for, asked by task
//     or thread.
TEST(a_task_report, can_be_asked_for_at_any_time) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::event begun, go_on;
    auto waits = quern::async(rt.default_pool(), [&] {
        auto one = quern::async({.name = "one of many"}, [&] {
            begun.set();
            go_on.wait();
        });
        begun.wait();  // otherwise its waiter could run it in its own place
        one.get();
    });
    std::string said;
    while (said.find("'one of many' waits") == std::string::npos ||
           said.find("of a task that has not ended") == std::string::npos) {
        said = quern::async(rt, [] { return quern::task_report(); }).get();
    }
    go_on.set();
    waits.get();
    EXPECT_NE(quern::task_report().find("0 tasks are suspended\n"), std::string::npos);
}

// Holds: task_report: Tasks that agree in all of it share a line of the report.
TEST(a_task_report, gives_tasks_that_agree_one_line) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::event go_on;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(quern::async({.name = "one of ten", .pool = &rt.default_pool().get()},
                                   [&go_on] { go_on.wait(); }));
    }
    std::string said;
    while (said.find("; and 9 more like it") == std::string::npos) {
        std::this_thread::yield();
        said = quern::task_report();
    }
    EXPECT_EQ(said.find("'one of ten'"), said.rfind("'one of ten'")) << said;
    go_on.set();
    for (auto& each : all) {
        each.get();
    }
}

quern::task<> wait_for(quern::event& e) { co_await e.co_wait(); }

/// Some of many coroutines are noted, and the others counted.
// Holds: task_report: Coroutines that wait are...
TEST(a_task_report, counts_coroutines_that_it_has_no_note_of) {
    constexpr int k_all = 5000;
    quern::runtime rt(quern::runtime_options::with_workers(8));
    for (int round = 0; round < 2; ++round) {
        quern::event go_on;
        std::vector<quern::future<void>> all;
        for (int i = 0; i < k_all; ++i) {
            all.push_back(quern::start(rt, wait_for(go_on)));
        }
        const std::string heading = std::to_string(k_all) + " tasks are suspended:\n";
        EXPECT_TRUE(quern_test::eventually(
            [&] { return quern::task_report().find(heading) != std::string::npos; }));
        const std::string said = quern::task_report();
        EXPECT_NE(said.find(" coroutine waits, for what was not noted; and "), std::string::npos)
            << said;
        EXPECT_NE(said.find(" for event "), std::string::npos) << said;
        go_on.set();
        for (auto& each : all) {
            each.get();
        }
        EXPECT_NE(quern::task_report().find("0 tasks are suspended\n"), std::string::npos);
    }
}

TEST(a_task_report, may_be_asked_for_while_coroutines_come_and_go) {
    quern::runtime rt(quern::runtime_options::with_workers(8));
    std::atomic<bool> done{false};
    quern::mutex m;
    std::vector<quern::future<void>> busy;
    const auto lock_often = [&]() -> quern::task<> {
        while (!done) {
            const auto held = co_await m.co_lock();
            co_await quern::async([] {});
        }
    };
    for (int i = 0; i < 16; ++i) {
        busy.push_back(quern::start(rt, lock_often()));
    }
    std::size_t seen = 0;
    for (int i = 0; i < 200 || seen == 0; ++i) {
        seen += quern::task_report().find("for mutex") != std::string::npos ? 1 : 0;
    }
    done = true;
    for (auto& each : busy) {
        each.get();
    }
    EXPECT_NE(quern::task_report().find("0 tasks are suspended\n"), std::string::npos);
}

TEST(a_task_report, may_be_asked_for_while_tasks_come_and_go) {
    quern::runtime rt(quern::runtime_options::with_workers(8));
    std::atomic<bool> done{false};
    quern::mutex m;
    std::vector<quern::future<void>> busy;
    for (int i = 0; i < 16; ++i) {
        busy.push_back(quern::async(rt, [&] {
            while (!done) {
                const quern::task_attributes briefly{.name = "brief",
                                                     .stack = quern::stack_class::medium};
                quern::async(briefly, [&m] { const std::scoped_lock lock(m); }).get();
                quern::this_task::yield();
            }
        }));
    }
    std::size_t seen = 0;
    for (int i = 0; i < 200 || seen == 0; ++i) {
        seen += quern::task_report().find("waits") != std::string::npos ? 1 : 0;
    }
    done = true;
    for (auto& each : busy) {
        each.get();
    }
}

// Holds: task_report: A task that runs while its worker's thread sleeps in the kernel is named with
//     the worker.
TEST(task_report_of_blocked_workers, names_a_task_whose_thread_sleeps_in_the_kernel) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    auto task = quern::async({.name = "sleeper", .pool = &rt.default_pool().get()},
                             [] { ::usleep(1'000'000); });
    std::string text;
    EXPECT_TRUE(quern_test::eventually([&text] {
        text = quern::task_report();
        return text.find("'sleeper'") != std::string::npos &&
               text.find("blocks its worker: thread") != std::string::npos;
    })) << text;
    EXPECT_NE(text.find("1 blocks its worker"), std::string::npos) << text;
    EXPECT_NE(text.find("blocking_region"), std::string::npos) << text;
    task.get();
    EXPECT_EQ(quern::task_report().find("sleeper"), std::string::npos);
}

}  // namespace
