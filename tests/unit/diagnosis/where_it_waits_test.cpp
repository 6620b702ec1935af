// SPDX-License-Identifier: BSL-1.0
// The places of waits in the program: the calls of suspended tasks, of threads outside, and of
// tasks that block their worker in the kernel. A task that has been woken does not count as
// waiting.
#include <quern/scheduler/held_locks.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>

#include "hanging_child.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern_test::eventually;
using quern_test::hanging_child;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

QUERN_NOINLINE void wait_deep_inside(quern::event& never) {
    never.wait();
    asm volatile("");
}

QUERN_NOINLINE int call_wait_deep_inside(quern::event& never) {
    volatile int one = 1;
    wait_deep_inside(never);
    return one;
}

// Holds: task_report: The report has the calls of a suspended task, and of a thread outside that
//     waits: the youngest ones of the program's own. Tasks that wait in different places have lines
//     of their own.
TEST(a_report_of_where_it_waits, has_the_calls_of_a_suspended_task) {
    hanging_child child([] {
        static quern::event never;
        quern::async({.name = "waiter"}, [] { call_wait_deep_inside(never); }).get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said, "\n     waits in ")) << said;
    EXPECT_TRUE(has(said, "\n       called in ")) << said;
    const auto inner = said.find("     waits in (anonymous namespace)::wait_deep_inside");
    const auto outer = said.find("     called in (anonymous namespace)::call_wait_deep_inside");
    EXPECT_NE(inner, std::string::npos) << said;
    EXPECT_NE(outer, std::string::npos) << said;
    EXPECT_LT(inner, outer) << said;
    EXPECT_FALSE(has(said, "in quern::")) << said;
}

/// Also with a thread outside that waits.
// Holds: task_report: The report has the...
TEST(a_report_of_where_it_waits, has_the_calls_of_a_thread_outside) {
    hanging_child child([] {
        static quern::event never;
        const auto waits = quern::async([] { never.wait(); });
        call_wait_deep_inside(never);
    });
    const std::string said = child.says("hang-report=off");
    const auto thread = said.find(" outside waits 0.");
    ASSERT_NE(thread, std::string::npos) << said;
    EXPECT_NE(said.find("waits in (anonymous namespace)::wait_deep_inside", thread),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("called in (anonymous namespace)::call_wait_deep_inside", thread),
              std::string::npos)
        << said;
}

// Holds: task_report: The report has the...
TEST(a_report_of_where_it_waits, keeps_tasks_apart_that_wait_in_different_places) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::event go_on;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(quern::async({.name = "waiter", .pool = &rt.default_pool().get()}, [&, i] {
            if (i < 2) {
                wait_deep_inside(go_on);
            } else {
                go_on.wait();
            }
        }));
    }
    EXPECT_TRUE(eventually([] {
        const std::string said = quern::task_report();
        return has(said, "; and 1 more like it\n     waits in ") &&
               has(said, "; and 3 more like it\n     waits in ");
    })) << quern::task_report();
    go_on.set();
    for (auto& each : all) {
        each.get();
    }
}

/// One worker, so that each task runs the awaited task in its own place.
// Holds: task_report: A result of a task in whose place another runs names both, and a lock of one
//     of them says so.
TEST(a_report_of_who_makes_a_result, says_both_where_one_runs_in_the_place_of_another) {
    hanging_child child([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        static quern::event never;
        auto outer = quern::async({.name = "outer", .pool = &rt.default_pool().get()}, [] {
            quern::async({.name = "inner"}, [] { never.wait(); }).get();
        });
        outer.get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said, ", made by task 'outer', in whose place #1 task 'inner' runs\n")) << said;
}

// Holds: task_report: A result of a...
TEST(a_report_of_who_holds_a_lock, says_that_it_may_be_one_in_whose_place_the_holder_runs) {
    hanging_child child([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        static quern::event never;
        static quern::mutex m;
        auto outer = quern::async({.name = "outer", .pool = &rt.default_pool().get()}, [] {
            const std::scoped_lock held(m);
            const quern::ignore_held_locks on_purpose;
            auto wants = quern::async({.name = "wants"}, [] { const std::scoped_lock lock(m); });
            quern::this_task::yield();
            quern::async({.name = "inner"}, [] { never.wait(); }).get();
        });
        outer.get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said, " task 'inner' or one in whose place it runs\n")) << said;
}

/// The only worker stays busy until the report is done: woken tasks are in its queue.
template <class Wake>
std::string report_of_woken(std::vector<quern::future<void>> waiters, quern::runtime& rt,
                            Wake wake) {
    std::string said;
    quern::async({.name = "busy", .pool = &rt.default_pool().get()}, [&] {
        wake();
        said = quern::task_report();
    }).get();
    for (auto& each : waiters) {
        each.get();
    }
    return said;
}

// Holds: task_report: A woken task that has not resumed does not count as waiting.
TEST(a_task_that_was_woken, does_not_wait_for_the_mutex_that_it_was_given) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::mutex m;
    std::string before;
    std::string said;
    auto holds = quern::async({.name = "holds", .pool = &rt.default_pool().get()}, [&] {
        m.lock();
        auto next = quern::async({.name = "next"}, [&m] { const std::scoped_lock lock(m); });
        const quern::ignore_held_locks on_purpose;
        quern::this_task::yield();
        before = quern::task_report();
        m.unlock();
        said = quern::task_report();
        next.get();
    });
    holds.get();
    EXPECT_TRUE(has(before, "'next' waits")) << before;
    EXPECT_TRUE(has(before, "held by a task that can run")) << before;
    EXPECT_FALSE(has(said, "held by itself")) << said;
    EXPECT_FALSE(has(said, "'next' waits")) << said;
}

// Holds: task_report: A woken task that...
TEST(a_task_that_was_woken, does_not_wait_for_a_latch_that_is_open) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::latch open(1);
    std::vector<quern::future<void>> waiters;
    for (int i = 0; i < 3; ++i) {
        waiters.push_back(quern::async({.name = "passes", .pool = &rt.default_pool().get()},
                                       [&open] { open.wait(); }));
    }
    EXPECT_TRUE(eventually([] { return has(quern::task_report(), "; and 2 more like it"); }));
    const std::string said = report_of_woken(std::move(waiters), rt, [&] { open.count_down(); });
    EXPECT_FALSE(has(said, "0 counts are missing")) << said;
    EXPECT_FALSE(has(said, "'passes' waits")) << said;
}

// Holds: task_report: A woken task that...
TEST(a_task_that_was_woken, does_not_wait_after_a_yield) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    std::string said;
    auto asks = quern::async({.name = "yields", .pool = &rt.default_pool().get()}, [&said] {
        auto looks = quern::async({.name = "looks"}, [&said] { said = quern::task_report(); });
        quern::this_task::yield();
        looks.get();
    });
    asks.get();
    EXPECT_TRUE(has(said, "0 tasks are suspended\n") || has(said, "0 tasks are suspended and"))
        << said;
}

QUERN_NOINLINE void lock_for_ever(std::mutex& m) {
    m.lock();
    asm volatile("");
}

// Holds: task_report: With a patience there is a report also while tasks block their workers in the
//     kernel, all of them too, or in a blocking_region.
TEST(a_hang_in_the_kernel, is_told_when_a_patience_is_set) {
    hanging_child child(
        [] {
            static std::mutex m;
            m.lock();
            quern::async({.name = "stuck"}, [] { lock_for_ever(m); }).get();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said,
                    "quern: nothing has run for 1 s; 0 tasks are suspended, 1 blocks its "
                    "worker and 1 thread outside waits:\n"))
        << said;
    EXPECT_TRUE(has(said, "task 'stuck' blocks its worker: thread ")) << said;
    EXPECT_TRUE(
        has(said, " waits for a lock, a condition variable or another thread (futex); use "))
        << said;
    EXPECT_FALSE(has(said, "in __")) << "the system's functions: " << said;
    EXPECT_FALSE(has(said, "quern-time")) << said;
    EXPECT_TRUE(has(said, "     made in ")) << said;
}

// Holds: task_report: With a patience there is a...
TEST(a_hang_in_the_kernel, of_all_workers_is_told_too) {
    hanging_child child(
        [] {
            static std::mutex m;
            m.lock();
            for (int i = 0; i < 8; ++i) {
                quern::post({.name = "stuck"}, [] { lock_for_ever(m); });
            }
            m.lock();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said,
                    "and only 1 thread outside could wake a task; 0 tasks are suspended and "
                    "2 block their workers:\n"))
        << said;
    // Under a sanitizer main sleeps in a lock of the sanitizer's own.
    EXPECT_TRUE(has(said, quern_test::k_sanitized ? " outside may wake one: it "
                                                  : " outside may wake one: it waits for a lock, "))
        << said;
}

// Holds: task_report: With a patience there is a...
TEST(a_hang_in_the_kernel, is_told_within_a_blocking_region) {
    hanging_child child(
        [] {
            static std::mutex m;
            m.lock();
            quern::async({.name = "stuck"}, [] {
                const quern::blocking_region here;
                lock_for_ever(m);
            }).get();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(has(said, "task 'stuck' waits ")) << said;
    EXPECT_TRUE(has(said, "foreign code: it is in a blocking_region\n")) << said;
    EXPECT_FALSE(has(said, "blocking_region\n     waits in")) << "its stack is in use: " << said;
}

// Holds: task_report: With a patience it says what threads do of which nothing is known.
TEST(a_hang_report_with_patience, says_what_threads_do_of_which_nothing_is_known) {
    hanging_child child(
        [] {
            static quern::promise<int> never;
            std::thread other([] {
                pthread_setname_np(pthread_self(), "idler");
                std::this_thread::sleep_for(1h);
            });
            quern::async({.name = "reader"}, [] { never.get_future().get(); }).get();
            other.join();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_TRUE(
        has(said, " 'idler' outside may wake one: it sleeps for a time (clock_nanosleep)\n"))
        << said;
}

// Holds: task_report: With a patience there is none while a task computes, or nothing waits.
TEST(no_report_with_patience, comes_while_a_task_computes) {
    hanging_child child(
        [] {
            quern::async([] {
                const auto end = std::chrono::steady_clock::now() + 2500ms;
                while (std::chrono::steady_clock::now() < end) {
                }
            }).get();
            std::fputs("ended", stderr);
        },
        "1");
    EXPECT_EQ(child.says("ended"), "ended");
}

// Holds: task_report: With a patience there is none...
TEST(no_report_with_patience, comes_while_nobody_waits) {
    hanging_child child(
        [] {
            quern::async([] {}).get();
            std::this_thread::sleep_for(2500ms);
            std::fputs("ended", stderr);
        },
        "1");
    EXPECT_EQ(child.says("ended"), "ended");
}

// Holds: task_report: Tasks that block their workers are named at any time.
TEST(a_task_report_of_running_tasks, names_those_that_block_their_workers) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    std::mutex m;
    m.lock();
    auto stuck = quern::async({.name = "stuck", .pool = &rt.default_pool().get()}, [&m] {
        lock_for_ever(m);
        m.unlock();
    });
    EXPECT_TRUE(eventually(
        [] { return has(quern::task_report(), "task 'stuck' blocks its worker: thread "); }));
    EXPECT_TRUE(has(quern::task_report(), "0 tasks are suspended and 1 blocks its worker:\n"));
    m.unlock();
    stuck.get();
}

}  // namespace
