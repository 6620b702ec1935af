// SPDX-License-Identifier: BSL-1.0
// exit() while runtimes live, and static objects, made before or after the default runtime, that
// use it in their destructors. More on exit() in a task: tests/unit/scheduler/endings_test.cpp.
#include "child.hpp"

#include <quern/quern.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
// After exit() in a task its runtime lives until the process has ended.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
    return "leak:quern::\nleak:exit_test.cpp\n";
}
#endif

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::alone;

/// A static object whose destructor needs tasks.
struct late_worker {
    const char* name;
    ~late_worker() {
        std::printf("%s: %d\n", name, quern::async([] { return 42; }).get());
        std::fflush(stdout);
    }
};

TEST(exit_test, a_static_object_made_after_the_default_runtime_uses_it_when_it_ends) {
    const auto end = alone([]() -> int {
        quern::async([] {}).get();
        static const late_worker late{"late"};
        std::exit(3);
    });
    EXPECT_EQ(end.output, "late: 42\n");
    EXPECT_EQ(end.status, 3) << end.output;
}

TEST(exit_test, a_static_object_made_before_the_default_runtime_gets_another_when_it_ends) {
    const auto end = alone([]() -> int {
        quern::set_setting("threads", "3");
        static const struct early_worker {
            late_worker rest{"early"};
            ~early_worker() { std::printf("%u workers\n", quern::current_pool().workers()); }
        } early;
        quern::async([] {}).get();
        static const late_worker late{"late"};
        std::exit(3);
    });
    EXPECT_EQ(end.output, "late: 42\n3 workers\nearly: 42\n");
    EXPECT_EQ(end.status, 3) << end.output;
}

TEST(exit_test, static_objects_use_the_default_runtime_when_a_task_calls_exit) {
    const auto end = alone([]() -> int {
        static const late_worker early{"early"};
        quern::async([] {}).get();
        static const late_worker late{"late"};
        quern::async([] { std::exit(4); }).get();
        return 5;
    });
    EXPECT_EQ(end.output, "late: 42\nearly: 42\n");
    EXPECT_EQ(end.status, 4) << end.output;
}

TEST(exit_test, a_task_of_a_static_runtime_may_call_exit) {
    const auto end = alone([]() -> int {
        static runtime rt(runtime_options::with_workers(2));
        quern::async(rt, [] { std::exit(6); }).get();
        return 5;
    });
    EXPECT_EQ(end.status, 6) << end.output;
}

TEST(exit_test, every_ready_task_runs_before_the_program_ends) {
    const auto end = alone([]() -> int {
        for (int i = 0; i < 100; ++i) {
            quern::post([] {
                quern::this_task::yield();
                static_cast<void>(::write(STDOUT_FILENO, "x", 1) == 1);
            });
        }
        std::exit(0);
    });
    EXPECT_EQ(end.output, std::string(100, 'x'));
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(exit_test, a_suspended_task_is_abandoned) {
    const auto end = alone([]() -> int {
        static quern::promise<void> never;
        std::atomic<bool> begun{false};
        quern::post([&] {
            begun.store(true);
            never.get_future().get();
            std::puts("woken");
        });
        while (!begun.load()) {
            std::this_thread::yield();
        }
        std::exit(7);
    });
    EXPECT_EQ(end.status, 7) << end.output;
}

/// Starts a task and calls exit() while it runs.
template <class F>
[[noreturn]] void exit_beside(F f) {
    static std::atomic<bool> begun{false};
    quern::post({.name = "last"}, [f] {
        begun.store(true);
        f();
        std::puts("ended");
    });
    while (!begun.load()) {
        std::this_thread::yield();
    }
    std::exit(7);
}

constexpr std::chrono::milliseconds k_long(3000);  // longer than the end's silent wait

// Holds: runtime: When nothing has begun for two seconds the destructor says on stderr for what it
//     waits.
TEST(exit_test, a_task_that_sleeps_is_waited_for_and_told_of) {
    const auto end =
        alone([]() -> int { exit_beside([] { quern::this_task::sleep_for(k_long); }); });
    EXPECT_EQ(end.status, 7);
    EXPECT_NE(end.output.find("ended"), std::string::npos) << end.output;
    EXPECT_NE(end.output.find("the end of a runtime waits for timers"), std::string::npos)
        << end.output;
    EXPECT_NE(end.output.find("task 'last' waits 2"), std::string::npos) << end.output;
    EXPECT_NE(end.output.find("it sleeps"), std::string::npos) << end.output;
}

TEST(exit_test, a_wait_with_a_limit_is_waited_for_until_that) {
    const auto end = alone([]() -> int {
        static quern::promise<void> never;
        exit_beside([] { never.get_future().wait_for(std::chrono::milliseconds(300)); });
    });
    EXPECT_EQ(end.status, 7);
    EXPECT_EQ(end.output, "ended\n");
}

// Holds: runtime: When nothing has begun...
TEST(exit_test, a_task_that_runs_long_is_told_of) {
    const auto end = alone([]() -> int { exit_beside([] { quern_test::spin_for(k_long); }); });
    EXPECT_EQ(end.status, 7);
    EXPECT_NE(end.output.find("the end of a runtime waits for 1 task that runs"), std::string::npos)
        << end.output;
    EXPECT_NE(end.output.find("runs task 'last'"), std::string::npos) << end.output;
}

// Holds: runtime: When nothing has begun...
TEST(exit_test, a_task_in_a_blocking_region_is_told_of) {
    const auto end = alone([]() -> int {
        exit_beside([] { quern::blocking([] { std::this_thread::sleep_for(k_long); }); });
    });
    EXPECT_EQ(end.status, 7);
    EXPECT_NE(end.output.find("waits for tasks in blocking regions"), std::string::npos)
        << end.output;
    EXPECT_NE(end.output.find("it is in a blocking_region"), std::string::npos) << end.output;
}

// Holds: runtime: When nothing has begun...
TEST(exit_test, nothing_is_told_where_hang_reports_are_off) {
    const auto end = quern_test::in_child(
        {.variables = {{"QUERN_HANG_REPORT", "off"}}},
        [](int&, char**) -> int { exit_beside([] { quern::this_task::sleep_for(k_long); }); });
    EXPECT_EQ(end.status, 7);
    EXPECT_EQ(end.output, "ended\n");
}

TEST(exit_test, a_thread_of_the_host_may_call_exit_while_another_waits_for_a_task) {
    const auto end = alone([]() -> int {
        static quern::promise<int> never;
        auto waiting = quern::async([] { return never.get_future().get(); });
        std::thread([] { std::exit(8); }).detach();
        return waiting.get();
    });
    EXPECT_EQ(end.status, 8) << end.output;
}

}  // namespace
