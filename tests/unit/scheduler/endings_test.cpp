// SPDX-License-Identifier: BSL-1.0
// The end of runtimes with pending work: tasks that wait for ever and are woken too late, pools
// that wake one another, threads that still submit work, exit() in a task.
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>

#include "on_runtime.hpp"

#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
// An abandoned task keeps its memory, and its runtime's: the subject of these tests.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
    return "leak:endings_test.cpp\n";
}
#endif

namespace {

using quern::runtime;
using quern::runtime_options;

runtime_options two_pools() {
    runtime_options options;
    options.pools.resize(2);
    options.pools[0].workers = 2;
    options.pools[1].workers = 2;
    options.pools[1].name = "other";
    return options;
}

// Holds: promise: A promise whose runtime has ended may still be kept: no task is woken, nothing
//     breaks.
// Holds: runtime: Tasks that are suspended for ever are abandoned: to wake them later has no
//     effect.
TEST(endings_test, a_promise_kept_after_the_end_wakes_nobody_and_breaks_nothing) {
    quern::promise<void> late;
    auto gate = late.get_future().share();
    {
        runtime rt(runtime_options::with_workers(2));
        std::atomic<int> begun{0};
        for (int i = 0; i < 10; ++i) {
            quern::post({.pool = &rt.default_pool().get()}, [gate, &begun] {
                begun.fetch_add(1);
                gate.wait();
                std::abort();  // its runtime has ended
            });
        }
        ASSERT_TRUE(quern_test::eventually([&] { return begun.load() == 10; }));
    }
    late.set_value();
    runtime next(runtime_options::with_workers(2));
    EXPECT_EQ(quern::async(next, [] { return 1; }).get(), 1);
}

TEST(endings_test, a_promise_kept_after_the_end_resumes_no_coroutine_and_breaks_nothing) {
    quern::promise<void> late;
    const auto wait = [](quern::future<void> f) -> quern::task<> {
        co_await std::move(f);
        std::abort();  // its runtime has ended
    };
    {
        runtime rt(runtime_options::with_workers(2));
        const auto left = quern::start(rt, wait(late.get_future()));
        quern::async(rt, [] {}).get();
    }
    late.set_value();
    runtime next(runtime_options::with_workers(2));
    EXPECT_EQ(quern::async(next, [] { return 1; }).get(), 1);
}

// Holds: promise: A promise whose runtime...
TEST(endings_test, a_promise_kept_during_the_end_wakes_all_or_nobody) {
    for (int i = 0; i < quern_test::scaled(200, 30); ++i) {
        quern::promise<void> late;
        auto gate = late.get_future().share();
        std::atomic<int> woken{0};
        std::thread keeper;
        {
            runtime rt(runtime_options::with_workers(2));
            quern::post({.pool = &rt.default_pool().get()}, [&woken, gate] {
                gate.wait();
                woken.fetch_add(1);
            });
            keeper = std::thread([&late, i] {
                quern_test::spin_for(std::chrono::microseconds(i));
                late.set_value();
            });
        }
        keeper.join();
        EXPECT_LE(woken.load(), 1);
    }
}

// Holds: runtime: The destructor waits for all pools together, which may wake one another.
TEST(endings_test, pools_that_wake_one_another_end_together) {
    for (int i = 0; i < quern_test::scaled(200, 30); ++i) {
        std::atomic<int> done{0};
        // Each link waits on one pool for a task of the other, and starts the next one there.
        std::function<void(int)> link;
        {
            runtime rt(two_pools());
            quern::detail::pool* const pools[] = {&rt.default_pool().get(),
                                                  &rt.pool("other").get()};
            link = [&, pools](int left) {
                quern::async({.pool = pools[left % 2]}, [] {}).get();
                done.fetch_add(1);
                if (left > 0) {
                    quern::post({.pool = pools[left % 2]}, [&link, left] { link(left - 1); });
                }
            };
            quern::post({.pool = pools[0]}, [&link] { link(20); });
        }
        EXPECT_EQ(done.load(), 21);
    }
}

// Holds: runtime: The destructor loses nothing that threads hand in before.
TEST(endings_test, nothing_is_lost_when_threads_hand_in_work_until_the_end) {
    for (int i = 0; i < quern_test::scaled(200, 30); ++i) {
        std::atomic<int> done{0};
        auto rt = std::make_unique<runtime>(runtime_options::with_workers(2));
        std::thread outside([&] {
            for (int k = 0; k < 10; ++k) {
                quern::post({.pool = &rt->default_pool().get()}, [&done] { done.fetch_add(1); });
            }
        });
        while (done.load() < 10) {
            std::this_thread::yield();
        }
        rt.reset();  // the thread may still be returning from the last post
        outside.join();
        EXPECT_EQ(done.load(), 10);
    }
}

// Holds: runtime: exit() in a task ends the program, whosesoever runtime it is.
TEST(endings_death_test, exit_in_a_task_of_the_default_runtime_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(quern::async([] { std::exit(7); }).get(), testing::ExitedWithCode(7), "");
}

// Holds: runtime: exit() in a task...
TEST(endings_death_test, exit_in_a_task_of_another_runtime_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            quern::async([] {}).get();  // starts the default runtime too
            runtime rt(runtime_options::with_workers(2));
            quern::async(rt, [] { std::exit(8); }).get();
        },
        testing::ExitedWithCode(8), "");
}

}  // namespace
