// SPDX-License-Identifier: BSL-1.0
// The report of a dying program. Each case dies in a process of its own, by the signal that would
// have killed it without a report.
#include "in_child.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/crash_handler.hpp>
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/main.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using quern_test::ended;

constexpr bool k_sanitized = quern::detail::k_asan || quern::detail::k_tsan;

bool has(const ended& child, const std::string& words) {
    return child.output.find(words) != std::string::npos;
}

/// The end of the report's text about a task that was made in this line.
std::string made_at(int line) {
    return QUERN_TEST_HAS_LINES ? "crash_test.cpp:" + std::to_string(line) + "\n" : "";
}

/// Runs f in a child without core dumps and, by default, with the crash handler.
template <class F>
ended dies(F&& f, const quern_test::surroundings& outside = {}, bool with_handler = true) {
    return quern_test::in_child(outside, [&](int&, char**) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        if (with_handler) {
            quern::install_crash_handler();
        }
        f();
        return 0;
    });
}

quern::runtime_options one_worker_with(quern::stack_class stacks) {
    auto options = quern::runtime_options::with_workers(1);
    options.pools.front().stacks = stacks;
    return options;
}

volatile int g_sink = 0;

volatile bool g_ends = false;

/// Not a tail call, and a frame of some hundred bytes.
QUERN_NOINLINE int recurse_for_ever(int depth) {
    volatile char frame[200];
    frame[0] = static_cast<char>(depth);
    const int below = g_ends ? 0 : recurse_for_ever(depth + 1);
    return below + frame[0];
}

/// Calls make() in a task that then waits for ever: the tasks that it posts run on stacks of the
/// pool's class, unlike the first one of a worker.
template <class F>
void in_a_waiting_task(quern::runtime& rt, F make) {
    quern::async(rt, [&] {
        make();
        quern::promise<void> never;
        never.get_future().get();
    }).get();
}

constexpr int k_deep_line = __LINE__ + 3;

void make_deep_task() {
    quern::post({.name = "deep"}, [] { g_sink = recurse_for_ever(0); });
}

QUERN_NOINLINE void read_null() {
    int* volatile nowhere = nullptr;
    g_sink = *nowhere;
}

constexpr int k_reader_line = __LINE__ + 3;

void make_reader_task() {
    quern::post({.name = "reader"}, [] {
        static_cast<void>(quern::this_task::id());  // assigns an id
        read_null();
    });
}

class crash : public testing::Test {
protected:
    void SetUp() override {
        if (k_sanitized) {
            GTEST_SKIP() << "the sanitizer reports crashes itself";
        }
    }
};

// Holds: install_crash_handler: A task that has used up its stack is told from other faults and
//     gets advice.
TEST_F(crash, of_a_task_that_recurses_for_ever_names_the_stack_and_the_remedy) {
    const ended child = dies([] {
        quern::runtime rt(one_worker_with(quern::stack_class::small));
        in_a_waiting_task(rt, make_deep_task);
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "task 'deep' has overflowed its stack of 64 KiB (class small)\n") &&
                has(child, "on worker 0 of pool 'default'\n") &&
                has(child, ".stack = quern::stack_class::medium") &&
                has(child, "--quern:stack=medium") && has(child, made_at(k_deep_line)) &&
                has(child, "  #19  ") && has(child, " more calls ...\n") &&
                has(child, "recurse_for_ever"))
        << child.output;
    EXPECT_FALSE(has(child, "  #30  ")) << child.output;
}

// Holds: install_crash_handler: A fault in a task is reported to stderr with the task's name and
//     the line.
TEST_F(crash, of_a_null_pointer_names_the_task_and_the_line) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(2));
        in_a_waiting_task(rt, make_reader_task);
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "crash: SIGSEGV, there is no memory at 0x0\n") &&
                has(child, " of pool 'default'\n") && has(child, "in task 'reader' (id ") &&
                has(child, " KiB of it used\n") && has(child, made_at(k_reader_line)) &&
                has(child, "read_null"))
        << child.output;
}

TEST_F(crash, in_the_place_of_another_task_names_both) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::async({.name = "asks", .pool = &rt.default_pool().get()}, [] {
            quern::async({.name = "answers"}, read_null).get();
        }).get();
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "in task 'answers'") &&
                has(child, "  in the place of task 'asks', which waits for it\n"))
        << child.output;
}

// Holds: install_crash_handler: abort, failed assertions and std::terminate are reported too, once,
//     and end the program as before.
TEST_F(crash, by_abort_is_reported_once_and_stays_an_abort) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::async(rt, [] { std::abort(); }).get();
    });
    EXPECT_EQ(child.signal, SIGABRT) << child.output;
    const std::size_t first = child.output.find("crash: SIGABRT, abort() was called\n");
    EXPECT_NE(first, std::string::npos) << child.output;
    EXPECT_EQ(child.output.find("quern: crash:", first + 1), std::string::npos) << child.output;
    EXPECT_TRUE(has(child, "in a task without a name\n")) << child.output;
}

QUERN_NOINLINE void throw_one() { throw std::runtime_error("nobody catches me"); }

// Holds: install_crash_handler: abort, failed assertions and...
TEST_F(crash, by_the_exception_of_a_posted_task_shows_who_has_thrown) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::post({.name = "thrower", .pool = &rt.default_pool().get()}, throw_one);
    });
    EXPECT_EQ(child.signal, SIGABRT) << child.output;
    EXPECT_TRUE(has(child, "nobody catches me") && has(child, "in task 'thrower'") &&
                has(child, "throw_one"))
        << child.output;
}

QUERN_NOINLINE int call_null() {
    int (*volatile nothing)() = nullptr;
    return nothing() + 1;
}

// Holds: install_crash_handler: A fault in a...
TEST_F(crash, of_a_call_of_a_null_pointer_names_the_caller) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::async(rt, call_null).get();
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "at 0x0\n") && has(child, "call_null")) << child.output;
}

// Holds: install_crash_handler: A fault inside the report, or in the heap, does not keep the
//     program from ending.
TEST_F(crash, within_the_report_ends_the_program_all_the_same) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        const auto* const no_name = reinterpret_cast<const char*>(8);
        quern::async({.name = no_name, .pool = &rt.default_pool().get()}, read_null).get();
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "quern: a fault within the report")) << child.output;
}

// Holds: install_crash_handler: Faults on threads outside are reported, on the one that installed
//     it also when its stack is used up.
TEST_F(crash, on_a_thread_outside_says_so) {
    const ended child = dies([] { std::thread(read_null).join(); });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "on a thread that is no worker\n") && has(child, "read_null"))
        << child.output;
}

constexpr int k_region_line = __LINE__ + 3;

void crash_in_a_region(void (*body)()) {
    quern::post({.name = "blocked"}, [body] { quern::blocking(body); });
}

// Holds: install_crash_handler: Faults in a blocking_region are reported too, with the task, and an
//     overflow there is told as one.
TEST_F(crash, in_a_blocking_region_names_the_task) {
    const ended child = dies([] {
        quern::runtime rt(one_worker_with(quern::stack_class::small));
        in_a_waiting_task(rt, [] { crash_in_a_region(read_null); });
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "crash: SIGSEGV, there is no memory at 0x0\n") &&
                has(child, "  in a blocking_region, on a spare thread of pool 'default'\n") &&
                has(child, "in task 'blocked'\n") && has(child, " KiB of it used\n") &&
                has(child, made_at(k_region_line)) && has(child, "read_null"))
        << child.output;
}

// Holds: install_crash_handler: Faults in a blocking_region...
TEST_F(crash, of_the_stack_in_a_blocking_region_is_told_as_one) {
    const ended child = dies([] {
        quern::runtime rt(one_worker_with(quern::stack_class::small));
        in_a_waiting_task(rt, [] { crash_in_a_region([] { g_sink = recurse_for_ever(0); }); });
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "task 'blocked' has overflowed its stack of 64 KiB (class small)\n") &&
                has(child, "  in a blocking_region, on a spare thread of pool 'default'\n") &&
                has(child, "--quern:stack=medium") && has(child, made_at(k_region_line)))
        << child.output;
}

// Holds: install_crash_handler: Faults on threads outside...
TEST_F(crash, of_the_stack_of_the_thread_that_installed_the_handler_is_reported) {
    const ended child = dies([] {
        const rlimit one_mebibyte{1U << 20, 1U << 20};
        ::setrlimit(RLIMIT_STACK, &one_mebibyte);
        g_sink = recurse_for_ever(0);
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "on a thread that is no worker\n") && has(child, " more calls ...\n"))
        << child.output;
}

// Holds: install_crash_handler: Faults on workers that were there before the call are reported.
TEST_F(crash, on_a_worker_that_was_there_before_the_handler_is_reported) {
    const ended child = dies(
        [] {
            quern::runtime rt(one_worker_with(quern::stack_class::small));
            quern::async(rt, [] {}).get();
            quern::install_crash_handler();
            in_a_waiting_task(rt, make_deep_task);
        },
        {}, false);
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "has overflowed its stack of 64 KiB")) << child.output;
}

// Holds: install_crash_handler: Without the call nothing happens; nor when the setting crash-report
//     is off.
TEST_F(crash, without_the_handler_says_nothing) {
    const ended child = dies(
        [] {
            quern::runtime rt(one_worker_with(quern::stack_class::small));
            quern::async(rt, [] { g_sink = recurse_for_ever(0); }).get();
        },
        {}, false);
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_EQ(child.output, "");
}

// Holds: install_crash_handler: Without the call nothing...
TEST_F(crash, is_not_reported_when_the_user_says_so) {
    const ended child = dies([] { read_null(); }, {.variables = {{"QUERN_CRASH_REPORT", "off"}}});
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_EQ(child.output, "");
}

// Holds: install_crash_handler: After the report the signal takes its course: the handler that was
//     there is called, or the program ends by it.
TEST_F(crash, goes_on_to_the_handler_that_was_there_before) {
    const ended child = dies(
        [] {
            struct sigaction own {};
            own.sa_handler = [](int) {
                constexpr char k_words[] = "the program's own handler\n";
                (void)!::write(STDERR_FILENO, k_words, sizeof k_words - 1);
                std::_Exit(23);
            };
            ::sigaction(SIGSEGV, &own, nullptr);
            quern::install_crash_handler();
            read_null();
        },
        {}, false);
    EXPECT_EQ(child.status, 23) << child.output;
    const std::size_t report = child.output.find("quern: crash: SIGSEGV");
    EXPECT_LT(report, child.output.find("the program's own handler")) << child.output;
}

// Holds: install_crash_handler: After the report the...
TEST_F(crash, by_a_signal_from_somebody_else_dies_of_it) {
    const ended child = dies([] { ::raise(SIGFPE); });
    EXPECT_EQ(child.signal, SIGFPE) << child.output;
    EXPECT_TRUE(has(child, "quern: crash: SIGFPE")) << child.output;
}

// Holds: install_crash_handler: A fault inside the...
TEST_F(crash, within_the_heap_is_reported_without_the_heap) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::async(rt, [] {
            auto* const block = static_cast<volatile char*>(std::malloc(4000));
            for (int i = 1; i <= 16; ++i) {
                *(block - i) = 0x41;  // the heap's header of the block
            }
            std::free(const_cast<char*>(block));
        }).get();
    });
    EXPECT_NE(child.signal, 0) << child.output;
    EXPECT_TRUE(has(child, "quern: crash: ") && has(child, "free")) << child.output;
}

// Holds: install_crash_handler: Several faults at once make one report.
TEST_F(crash, of_several_workers_at_once_is_one_report) {
    const ended child = dies([] {
        quern::runtime rt(quern::runtime_options::with_workers(8));
        for (int i = 0; i < 8; ++i) {
            quern::post({.pool = &rt.default_pool().get()}, read_null);
        }
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_EQ(child.output.find("quern: crash:"), child.output.rfind("quern: crash:"))
        << child.output;
}

constexpr int k_main_line = __LINE__ + 5;

void main_that_crashes() {
    char name[] = "prog";
    char* argv[] = {name, nullptr};
    quern::main(1, argv, read_null);
}

// Holds: install_crash_handler: quern::main installs it.
TEST_F(crash, under_main_is_reported) {
    const ended child = dies(main_that_crashes, {}, false);
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "crash: SIGSEGV") && has(child, made_at(k_main_line))) << child.output;
}

/// Recursion by forks does not overflow the stack: it continues on fresh ones.
long fork_deep(int depth) {
    if (depth == 0) {
        read_null();
        return 0;
    }
    return quern::fork_join([] { return 0L; }, [depth] { return fork_deep(depth - 1); }).second;
}

// Holds: install_crash_handler: A task that has...
TEST_F(crash, deep_in_forks_says_how_many_stacks_are_full) {
    const ended child = dies([] {
        quern::runtime rt(one_worker_with(quern::stack_class::small));
        in_a_waiting_task(rt, [] { quern::post(fork_deep, 3'000); });
    });
    EXPECT_EQ(child.signal, SIGSEGV) << child.output;
    EXPECT_TRUE(has(child, "; it has filled ")) << child.output;
}

// Holds: install_crash_handler: Under a sanitizer it leaves the signals alone.
TEST(crash_handler, leaves_the_signals_to_a_sanitizer) {
    const ended child = dies([] { std::exit(quern::install_crash_handler() ? 1 : 2); }, {}, false);
    EXPECT_EQ(child.status, k_sanitized ? 2 : 1) << child.output;
}

}  // namespace
