// SPDX-License-Identifier: BSL-1.0
// Listeners hear of everything, several at a time, from when they are added until they are taken
// away.
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/listener.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstring>
#include <string>

namespace {

using quern::trace::listen;
using quern::trace::task_event;

/// Counts what concerns tasks of one name.
struct counting : quern::trace::listener {
    bool is_mine(const task_event& e) const noexcept {
        return e.name != nullptr && std::strcmp(e.name, "mine") == 0;
    }
    void on_made(const task_event& e) noexcept override { made += is_mine(e) ? 1 : 0; }
    void on_start(const task_event& e) noexcept override { started += is_mine(e) ? 1 : 0; }
    void on_stop(const task_event& e) noexcept override { stopped += is_mine(e) ? 1 : 0; }
    void on_suspend(const task_event& e) noexcept override { suspended += is_mine(e) ? 1 : 0; }
    void on_resume(const task_event& e) noexcept override { resumed += is_mine(e) ? 1 : 0; }
    void on_sample(std::string_view, double value) noexcept override { last_value = value; }
    void on_mark(std::string_view, std::string_view) noexcept override { ++marks; }

    std::atomic<int> made{0}, started{0}, stopped{0}, suspended{0}, resumed{0}, marks{0};
    std::atomic<double> last_value{0};
};

constexpr int k_tasks = 50;

class listener_test : public quern_test::on_runtime {
protected:
    void run_tasks() {
        inside([] {
            quern::task_group group;
            for (int i = 0; i < k_tasks; ++i) {
                group.run({.name = "mine"}, [] { quern::this_task::yield(); });
            }
            group.wait();
        });
        rt.default_pool().get().wait_until_quiet();
    }
};

TEST_P(listener_test, hears_of_every_step_of_a_task) {
    counting seen;
    const auto handle = listen(seen);
    run_tasks();
    EXPECT_EQ(seen.made, k_tasks);
    EXPECT_EQ(seen.started, k_tasks);
    EXPECT_EQ(seen.suspended, k_tasks);
    EXPECT_EQ(seen.resumed, k_tasks);
    EXPECT_EQ(seen.stopped, k_tasks);
}

TEST_P(listener_test, hears_nothing_before_and_after) {
    run_tasks();
    counting seen;
    auto handle = listen(seen);
    handle.stop();
    run_tasks();
    quern::trace::mark("unheard");
    EXPECT_EQ(seen.started, 0);
    EXPECT_EQ(seen.marks, 0);
}

TEST_P(listener_test, several_listen_each_on_its_own) {
    counting one;
    counting other;
    auto first = listen(one);
    auto second = listen(other);
    run_tasks();
    first.stop();
    run_tasks();
    EXPECT_EQ(one.started, k_tasks);
    EXPECT_EQ(other.started, 2 * k_tasks);
}

TEST_P(listener_test, hears_samples_and_marks) {
    counting seen;
    const auto handle = listen(seen);
    inside([] {
        quern::trace::sample("residual", 0.5);
        quern::trace::mark("half way");
    });
    EXPECT_EQ(seen.last_value, 0.5);
    EXPECT_EQ(seen.marks, 1);
}

TEST_P(listener_test, comes_and_goes_while_tasks_run) {
    std::atomic<bool> enough{false};
    auto load = quern::async(rt, [&] {
        quern::task_group group;
        while (!enough) {
            for (int i = 0; i < 20; ++i) {
                group.run({.name = "mine"}, [] { quern::this_task::yield(); });
            }
            group.wait();
        }
    });
    for (int i = 0; i < quern_test::scaled(200, 30); ++i) {
        counting seen;
        auto handle = listen(seen);
        if (i % 2 == 0) {
            ASSERT_TRUE(quern_test::eventually([&] { return seen.started > 0; }));
        }
    }
    enough = true;
    load.get();
}

QUERN_ON_1_2_8_WORKERS(listener_test);

TEST(listener_of_all_test, hears_of_runtimes_that_are_made_later) {
    counting seen;
    const auto handle = listen(seen);
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async({.name = "mine", .pool = &rt.default_pool().get()}, [] {}).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(seen.started, 1);
    EXPECT_EQ(seen.stopped, 1);
}

}  // namespace
