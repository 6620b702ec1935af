// SPDX-License-Identifier: BSL-1.0
// The report of a program that hangs: six seeded bugs, each in a process of its own, which is ended
// after its report; and programs with long but justified waits, which must print no report.
#include <quern/counters/counter.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_hold.hpp>
#include <quern/task/this_task.hpp>

#include "hanging_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern_test::hanging_child;

/// Tasks in a ring, each of which holds its own mutex and waits for the next task's.
void lock_in_a_ring(int size) {
    std::deque<quern::mutex> forks(static_cast<std::size_t>(size));
    quern::barrier all_have_one(size);
    std::deque<std::string> names;
    std::vector<quern::future<void>> diners;
    for (std::size_t i = 0; i < forks.size(); ++i) {
        names.push_back("diner " + std::to_string(i));
        const auto dine = [&, i] {
            const std::scoped_lock left(forks[i]);
            all_have_one.arrive_and_wait();
            const std::scoped_lock right(forks[(i + 1) % forks.size()]);
        };
        diners.push_back(quern::async({.name = names.back().c_str()}, dine));
    }
    for (auto& diner : diners) {
        diner.get();
    }
}

/// A chain of dependent tasks, of which the middle one is held for ever.
void forget_a_hold() {
    static quern::task_hold never_dropped;
    quern::domain work;
    std::array<double, 100> data{};
    work.spawn({.name = "fill"}, quern::out(data), [] {});
    work.spawn({.name = "send"}, quern::inout(data),
               [] { never_dropped = quern::this_task::hold(); });
    work.spawn({.name = "sum"}, quern::in(data), [] {});
    work.spawn({.name = "clear"}, quern::out(data), [] {});
    work.taskwait();
}

// Holds: domain: A program that hangs because a task is held names that task and what waits for it.
TEST(a_hang_report, names_the_held_task_of_a_domain) {
    for (const bool is_inside : {true, false}) {
        const auto program = [is_inside] {
            if (is_inside) {
                quern::async(forget_a_hold).get();
            } else {
                forget_a_hold();  // the owner is a thread outside: no task is suspended
            }
        };
        hanging_child child(program, is_inside ? "certain" : "1");
        const std::string said = child.says("hang-report=off");
        EXPECT_NE(said.find("3 of its tasks have not ended"), std::string::npos) << said;
        EXPECT_NE(said.find("task 'send' has returned and is held, holds left: 1"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find("(800 bytes), for which task 'sum' waits"), std::string::npos) << said;
        EXPECT_NE(said.find("1 further task waits for these"), std::string::npos) << said;
        EXPECT_EQ(said.find("'fill'"), std::string::npos) << said;
    }
}

// Holds: task_report: Lock cycles are named as cycles, of any length.
TEST(a_hang_report, names_a_cycle_of_two_locks) {
    hanging_child child([] { lock_in_a_ring(2); });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("cycle of 2 locks: #"), std::string::npos) << said;
    EXPECT_NE(said.find("'diner 0' waits"), std::string::npos) << said;
    EXPECT_NE(said.find("'diner 1' waits"), std::string::npos) << said;
}

TEST(a_hang_report, comes_while_counters_are_printed_and_sampled) {
    hanging_child child([] {
        ::setenv("QUERN_PRINT_COUNTER", "/statistics{/threads/idle-rate}/max@20", 1);
        ::setenv("QUERN_PRINT_COUNTER_INTERVAL", "30", 1);
        ::setenv("QUERN_PRINT_COUNTER_DESTINATION", "/dev/null", 1);
        lock_in_a_ring(2);
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("cycle of 2 locks: #"), std::string::npos) << said;
}

TEST(a_hang_report, comes_while_counters_are_recorded) {
    hanging_child child([] {
        ::setenv("QUERN_TRACE", "/dev/null", 1);
        ::setenv("QUERN_TRACE_COUNTERS", "/threads{*}/idle-rate;/runtime/memory/resident", 1);
        lock_in_a_ring(2);
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("cycle of 2 locks: #"), std::string::npos) << said;
}

// Holds: task_report: Lock cycles are named...
TEST(a_hang_report, names_a_cycle_of_five_locks) {
    hanging_child child([] { lock_in_a_ring(5); });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("cycle of 5 locks: #"), std::string::npos) << said;
    for (int i = 0; i < 5; ++i) {
        const std::string who = "'diner " + std::to_string(i) + "'";
        EXPECT_NE(said.find(who + " waits"), std::string::npos) << said;
        EXPECT_NE(said.find("task " + who + "\n"), std::string::npos) << "as a holder: " << said;
    }
}

// Holds: task_report: When no task can run any more, the report is written to stderr.
TEST(a_hang_report, names_a_lost_promise) {
    hanging_child child([] {
        static quern::promise<int> never;
        quern::async({.name = "reader"}, [] { never.get_future().get(); }).get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("1 task is suspended"), std::string::npos) << said;
    EXPECT_NE(said.find("'reader' waits"), std::string::npos) << said;
    EXPECT_NE(said.find("of a promise that nobody has set"), std::string::npos) << said;
}

// Holds: task_report: The report names what is missing: the full channel, the latch short of a
//     count, the barrier short of one, the mutex whose holder has ended.
TEST(a_hang_report, names_a_full_channel) {
    hanging_child child([] {
        static quern::channel<int> line(2);
        quern::async({.name = "producer"}, [] {
            for (int i = 0; i < 3; ++i) {
                line.send(i);
            }
        }).get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("'producer' waits"), std::string::npos) << said;
    EXPECT_NE(said.find("channel"), std::string::npos) << said;
    EXPECT_NE(said.find("full"), std::string::npos) << said;
}

// Holds: task_report: The report names what...
TEST(a_hang_report, names_a_latch_that_misses_a_count) {
    hanging_child child([] {
        static quern::latch done(3);
        quern::async([] { done.count_down(2); }).get();
        quern::async({.name = "waiter"}, [] { done.wait(); }).get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("'waiter' waits"), std::string::npos) << said;
    EXPECT_NE(said.find("latch"), std::string::npos) << said;
    EXPECT_NE(said.find("1 "), std::string::npos) << said;
}

// Holds: task_report: The report names what...
TEST(a_hang_report, names_a_barrier_that_is_short_of_one) {
    hanging_child child([] {
        static quern::barrier<> together(3);
        std::vector<quern::future<void>> comers;
        for (int i = 0; i < 2; ++i) {
            comers.push_back(quern::async({.name = "comer"}, [] { together.arrive_and_wait(); }));
        }
        comers.front().get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("'comer' waits"), std::string::npos) << said;
    EXPECT_NE(said.find("barrier"), std::string::npos) << said;
    EXPECT_NE(said.find("2 of 3"), std::string::npos) << said;
    EXPECT_NE(said.find("1 more like it"), std::string::npos) << said;
}

// Holds: task_report: The report names what...
TEST(a_hang_report, names_a_mutex_whose_holder_has_ended) {
    hanging_child child([] {
        static quern::mutex m;
        quern::async([] { m.lock(); }).get();
        quern::async({.stack = quern::stack_class::large}, [] { m.lock(); }).get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("ended without letting go"), std::string::npos) << said;
}

TEST(a_hang_report, comes_when_a_throttled_worker_was_the_last_to_run) {
    hanging_child child([] {
        static quern::event never;
        quern::runtime rt(quern::runtime_options::with_workers(2));
        quern::async({.worker = 1, .pool = &rt.default_pool().get()}, [&rt] {
            rt.default_pool().set_active_workers(1);
            never.wait();
        }).get();
    });
    EXPECT_NE(child.says("hang-report=off").find("1 task is suspended"), std::string::npos);
}

// Holds: task_report: The report of a hang can be switched off.
TEST(a_hang_report, can_be_switched_off) {
    hanging_child child(
        [] {
            static quern::promise<int> never;
            quern::async([] { never.get_future().get(); }).get();
        },
        "off");
    EXPECT_EQ(child.says("nothing at all", 1500ms), "");
}

// Holds: task_report: The report of a hang comes after the patience that was set though a thread
//     might act.
TEST(a_hang_report, comes_after_the_patience_that_was_set_though_a_thread_might_act) {
    hanging_child child(
        [] {
            static quern::promise<int> never;
            std::thread other([] { std::this_thread::sleep_for(1h); });
            quern::async({.name = "reader"}, [] { never.get_future().get(); }).get();
            other.join();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("only 1 thread outside could wake a task"), std::string::npos) << said;
    EXPECT_NE(said.find("'reader' waits"), std::string::npos) << said;
}

/// Waits that last longer than the first check, and end.
// Holds: task_report: The report of a hang does not come while a timer is set, a thread outside
//     could act, or another pool works.
TEST(no_hang_report, comes_while_a_timer_is_set) {
    hanging_child child([] {
        static quern::event woken;
        auto sleeper = quern::async([] {
            quern::this_task::sleep_for(1200ms);
            woken.set();
        });
        quern::async([] { woken.wait(); }).get();
        sleeper.get();
        std::fputs("ended", stderr);
    });
    EXPECT_EQ(child.says("ended"), "ended");
}

// Holds: task_report: The report of a hang does...
TEST(no_hang_report, comes_while_a_thread_outside_could_act) {
    hanging_child child([] {
        static quern::event woken;
        auto waits = quern::async([] { woken.wait(); });
        std::this_thread::sleep_for(1200ms);
        woken.set();
        waits.get();
        std::fputs("ended", stderr);
    });
    EXPECT_EQ(child.says("ended"), "ended");
}

// Holds: task_report: The report of a hang does...
TEST(no_hang_report, comes_while_a_task_is_in_a_blocking_region) {
    hanging_child child([] {
        static quern::event woken;
        auto blocks = quern::async([] {
            {
                const quern::blocking_region here;
                std::this_thread::sleep_for(1200ms);
            }
            woken.set();
        });
        quern::async([] { woken.wait(); }).get();
        blocks.get();
        std::fputs("ended", stderr);
    });
    EXPECT_EQ(child.says("ended"), "ended");
}

// Holds: task_report: The report comes although spare threads have been made.
TEST(a_hang_report, comes_although_spare_threads_have_been_made) {
    hanging_child child([] {
        static quern::event never;
        quern::async([] { const quern::blocking_region here; }).get();
        quern::async([] { never.wait(); }).get();
    });
    EXPECT_NE(child.says("hang-report=off").find("1 task is suspended"), std::string::npos);
}

// Holds: task_report: Lock cycles are named...
TEST(a_hang_report, names_tasks_that_wait_for_each_other) {
    hanging_child child([] {
        static quern::promise<quern::shared_future<void>> second;
        auto told = second.get_future().share();
        const quern::task_attributes on_its_own{.stack = quern::stack_class::medium};
        auto one = quern::async(on_its_own, [told] { told.get().get(); }).share();
        auto other = quern::async(on_its_own, [one] { one.get(); }).share();
        second.set_value(other);
        one.get();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("cycle of 2: #"), std::string::npos) << said;
    EXPECT_NE(said.find(", made by #"), std::string::npos) << said;
}

// Holds: task_report: The report of a hang does...
TEST(no_hang_report, comes_while_another_pool_works) {
    hanging_child child([] {
        quern::runtime other(quern::runtime_options::with_workers(1));
        auto works = quern::async(other, [] { std::this_thread::sleep_for(1200ms); });
        quern::async([&works] { works.get(); }).get();
        std::fputs("ended", stderr);
    });
    EXPECT_EQ(child.says("ended"), "ended");
}

/// Ends a runtime in which two tasks wait for an event that is never set, beside another runtime
/// with a waiting task.
void leave_two_tasks_behind() {
    static quern::event never;
    quern::runtime other(quern::runtime_options::with_workers(1));
    quern::event elsewhere;
    auto waits_elsewhere = quern::async({.name = "elsewhere", .pool = &other.default_pool().get()},
                                        [&elsewhere] { elsewhere.wait(); });
    {
        quern::runtime rt(quern::runtime_options::with_workers(2));
        for (int i = 0; i < 2; ++i) {
            quern::post({.name = "left behind", .pool = &rt.default_pool().get()},
                        [] { never.wait(); });
        }
    }
    elsewhere.set();
    waits_elsewhere.get();
    std::fputs("ended", stderr);
}

quern::task<> send_three(quern::channel<int>& into) {
    for (int i = 0; i < 3; ++i) {
        co_await into.co_send(i);
    }
}

quern::task<> lock_and_lock_again(quern::mutex& m) {
    const auto held = co_await m.co_lock();
    const auto again = co_await m.co_lock();
}

// Holds: task_report: Coroutines that wait are listed with their functions; those without a note
//     are counted.
TEST(a_hang_report, names_coroutines_and_what_they_wait_for) {
    hanging_child child([] {
        quern::channel<int> line(2);
        quern::mutex m;
        quern::promise<int> never;
        auto sender = quern::start({.name = "sender"}, send_three(line));
        auto locker = quern::start(lock_and_lock_again(m));
        auto reader = [](quern::future<int> f) -> quern::task<int> { co_return co_await f; };
        quern::start(reader(never.get_future())).get();
    });
    const std::string said = child.says("hang-report=off");
    for (const char* const words :
         {"3 tasks are suspended", "coroutine 'sender' waits", "channel, to send",
          "full: holds 2 of 2", "for mutex", "held by itself", "of a promise that nobody has set",
          "send_three at ", "lock_and_lock_again at ", "     waits in ", "made in "}) {
        EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
    }
}

quern::task<> lock_both(quern::mutex& first, quern::mutex& second, quern::latch& have_one) {
    const auto one = co_await first.co_lock();
    have_one.count_down();
    co_await have_one.co_wait();
    const auto two = co_await second.co_lock();
}

// Holds: task_report: Locks and results lead through coroutines that wait by co_await: which one
//     holds a mutex that is waited for, and makes a result; cycles are found.
TEST(a_hang_report, names_a_cycle_of_coroutines) {
    hanging_child child([] {
        quern::mutex a, b;
        quern::latch have_one(2);
        auto left = quern::start({.name = "left"}, lock_both(a, b, have_one));
        auto right = quern::start({.name = "right"}, lock_both(b, a, have_one));
        left.get();
    });
    const std::string said = child.says("hang-report=off");
    for (const char* const words :
         {"cycle of 2 locks: #", "coroutine 'left' waits", "coroutine 'right' waits", ", held by #",
          " coroutine 'right'\n", " coroutine 'left'\n", "lock_both at "}) {
        EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
    }
}

/// The waiting coroutine has awaited another one, which took the lock.
// Holds: task_report: Locks and results lead...
TEST(a_hang_report, names_the_coroutine_that_holds_what_its_own_task_waits_for) {
    hanging_child child([] {
        quern::shared_mutex m;
        quern::event held;
        const auto takes =
            [](quern::shared_mutex& lock) -> quern::task<quern::shared_mutex::co_guard> {
            co_return co_await lock.co_lock();
        };
        const auto holds = [](auto take, quern::shared_mutex& lock,
                              quern::event& has) -> quern::task<> {
            const auto guard = co_await take(lock);
            has.set();
            auto stuck =
                quern::async({.name = "stuck"}, [&] { const std::scoped_lock wanted(lock); });
            co_await stuck;
        };
        auto owner = quern::start({.name = "owner"}, holds(takes, m, held));
        quern::async({.name = "asker"}, [&] { owner.get(); }).get();
    });
    const std::string said = child.says("hang-report=off");
    for (const char* const words : {"cycle of 2: #", "task 'stuck' waits", "held by #",
                                    " coroutine 'owner'\n", "made by #", " task 'stuck'\n"}) {
        EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
    }
    const auto asker = said.find("task 'asker' waits");
    ASSERT_NE(asker, std::string::npos) << said;
    const auto line = said.substr(asker, said.find('\n', asker) - asker);
    EXPECT_NE(line.find("made by #"), std::string::npos) << line;
    EXPECT_NE(line.find("coroutine 'owner'"), std::string::npos) << line;
}

/// One worker, so that each task runs the awaited task in its own place.
// Holds: task_report: A task that runs in the place of another names that one too.
TEST(a_hang_report, names_those_who_wait_for_a_task_that_runs_in_their_place) {
    hanging_child child([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::shared_future<void> outer;
        quern::event known;
        outer = quern::async({.name = "outer", .pool = &rt.default_pool().get()}, [&] {
                    known.wait();
                    auto other = quern::async({.name = "other"}, [&] { outer.wait(); });
                    quern::async({.name = "inner"}, [&] { other.wait(); }).get();
                }).share();
        known.set();
        outer.wait();
    });
    const std::string said = child.says("hang-report=off");
    for (const char* const words :
         {"task 'other' waits", "made by task 'outer', in whose place it runs",
          "     runs in the place of task 'inner', which waits for it\n",
          "     runs in the place of task 'outer', which waits for it\n"}) {
        EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
    }
}

// Holds: task_report: Coroutines that wait are...
TEST(a_report_of_abandoned_tasks, names_coroutines) {
    hanging_child child([] {
        static quern::channel<int> line(2);
        {
            quern::runtime rt(quern::runtime_options::with_workers(1));
            const auto left = quern::start(rt, send_three(line));
        }
        std::fputs("ended", stderr);
    });
    const std::string said = child.says("ended");
    EXPECT_EQ(said.find("quern: 1 task is abandoned at the end of the runtime:\n"), 0U) << said;
    EXPECT_NE(said.find("#1 coroutine waits "), std::string::npos) << said;
}

// Holds: task_report: Tasks that a runtime abandons at its end are named in the same way, those of
//     other runtimes not.
TEST(a_report_of_abandoned_tasks, comes_at_the_end_of_a_runtime) {
    hanging_child child(leave_two_tasks_behind);
    const std::string said = child.says("ended");
    EXPECT_EQ(said.find("quern: 2 tasks are abandoned at the end of the runtime:\n"), 0U) << said;
    EXPECT_NE(said.find("task 'left behind' waits "), std::string::npos) << said;
    EXPECT_NE(said.find("for event 0x"), std::string::npos) << said;
    EXPECT_NE(said.find("; and 1 more like it\n     waits in "), std::string::npos) << said;
    EXPECT_EQ(said.find("elsewhere"), std::string::npos) << said;
    EXPECT_NE(said.find("\n(--quern:hang-report=off keeps this quiet)\nended"), std::string::npos)
        << said;
}

// Holds: task_report: Tasks that a runtime...
TEST(a_report_of_abandoned_tasks, comes_at_the_end_of_the_program) {
    hanging_child child([] {
        static quern::promise<void> never;
        auto begun = quern::async([] { return 1; });
        quern::post([] { never.get_future().get(); });
        begun.get();
        std::exit(0);
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_EQ(said.find("quern: 1 task is abandoned at the end of the runtime:\n"), 0U) << said;
}

// Holds: task_report: The report of a hang can...
TEST(a_report_of_abandoned_tasks, can_be_switched_off) {
    hanging_child child(leave_two_tasks_behind, "off");
    EXPECT_EQ(child.says("ended"), "ended");
}

}  // namespace
