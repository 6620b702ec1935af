// SPDX-License-Identifier: BSL-1.0
// Recorded data when a process is interrupted, calls exit() while its runtime lives, aborts or
// crashes: it is written, or stderr says that it is lost, and the process ends as without Quern.
#include "child.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/quern.hpp>
#include <quern/scheduler/crash_handler.hpp>
#include <quern/scheduler/detail/exit_action.hpp>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern::detail::exit_action;
using quern_test::ended;

bool has(const ended& child, const std::string& words) {
    return child.output.find(words) != std::string::npos;
}

bool is_default(int signal) {
    struct sigaction present {};
    return ::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL;
}

void wait_for_ever() {
    for (;;) {
        ::pause();
    }
}

/// Runs a main in a child that has no core dumps and takes SIGINT as from a terminal.
template <class Main>
ended child_with(const quern_test::surroundings& outside, Main&& main) {
    return quern_test::in_child(outside, [&](int&, char**) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGINT, SIG_DFL);
        ::alarm(quern_test::k_patience);
        return main();
    });
}

class interruption_test : public testing::TestWithParam<unsigned> {
protected:
    interruption_test() { std::filesystem::create_directory(folder); }
    ~interruption_test() override { std::filesystem::remove_all(folder); }

    std::string path(const char* name) const { return (folder / name).string(); }
    quern_test::surroundings recorded() const {
        return {{{"QUERN_REPORT", path("run.html")}, {"QUERN_TRACE", path("run.pftrace")}}, {}};
    }
    std::string text_of(const char* name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                         ("quern-interrupted-" + std::to_string(::getpid()));
};
INSTANTIATE_TEST_SUITE_P(on, interruption_test, testing::Values(1U, 2U, 8U));

/// Tasks that make tasks, until the process ends.
void work_for_ever() {
    quern::task_group group;
    for (;;) {
        for (int i = 0; i < 10; ++i) {
            group.run({.name = "short"},
                      [] { quern_test::spin_for(std::chrono::microseconds(50)); });
        }
        group.wait();
    }
}

void interrupt_busy_workers(unsigned workers, int signal) {
    runtime rt(runtime_options::with_workers(workers));
    quern::post({.name = "driver", .pool = &rt.default_pool().get()}, work_for_ever);
    quern_test::eventually([&] { return rt.totals().tasks > 200; });
    ::kill(::getpid(), signal);
    wait_for_ever();
}

TEST_P(interruption_test, writes_what_was_recorded_while_workers_run) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const ended child = child_with(recorded(), [&] {
            interrupt_busy_workers(GetParam(), signal);
            return 0;
        });
        EXPECT_EQ(child.signal, signal) << child.output;
        EXPECT_EQ(child.output, "quern: interrupted; what was recorded up to now is in " +
                                    path("run.pftrace") + " and in " + path("run.html") + "\n");
        EXPECT_NE(text_of("run.html").find("</html>"), std::string::npos);
        EXPECT_NE(text_of("run.pftrace").find("short"), std::string::npos);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
        std::filesystem::remove(path("run.html"));
    }
}

TEST_P(interruption_test, prints_the_counters_that_were_wanted_at_the_end) {
    const ended child =
        child_with({{{"QUERN_PRINT_COUNTER", "/threads/count/cumulative"}}, {}}, [] {
            interrupt_busy_workers(GetParam(), SIGINT);
            return 0;
        });
    EXPECT_EQ(child.signal, SIGINT) << child.output;
    EXPECT_TRUE(has(child, "count/cumulative") && has(child, "up to now is on stdout\n"))
        << child.output;
}

TEST_P(interruption_test, leaves_the_signals_alone_where_nothing_is_recorded) {
    const ended child = child_with({}, [] {
        runtime rt(runtime_options::with_workers(GetParam()));
        const bool untouched = is_default(SIGINT) && is_default(SIGTERM) && is_default(SIGABRT);
        ::kill(::getpid(), untouched ? SIGINT : SIGUSR1);
        return 0;
    });
    EXPECT_EQ(child.signal, SIGINT) << child.output;
    EXPECT_EQ(child.output, "");
}

TEST_P(interruption_test, the_signals_are_the_systems_again_when_the_runtime_has_ended) {
    const ended child = child_with(recorded(), [] {
        for (int i = 0; i < 20; ++i) {
            const runtime rt(runtime_options::with_workers(GetParam()));
            if (is_default(SIGINT)) {
                return 1;
            }
        }
        return is_default(SIGINT) && is_default(SIGTERM) && is_default(SIGABRT) ? 0 : 2;
    });
    EXPECT_EQ(child.status, 0) << child.output;
}

TEST_P(interruption_test, a_handler_of_the_program_gets_the_signal_and_the_recording_goes_on) {
    for (const bool installed_before : {true, false}) {
        const ended child = child_with(recorded(), [&] {
            static std::atomic<int> handled{0};
            const auto install = [] { std::signal(SIGINT, [](int) { handled.fetch_add(1); }); };
            if (installed_before) {
                install();
            }
            {
                runtime rt(runtime_options::with_workers(GetParam()));
                if (!installed_before) {
                    install();
                }
                ::kill(::getpid(), SIGINT);
                quern::async({.name = "later", .pool = &rt.default_pool().get()}, [] {}).get();
            }
            return handled.load() == 1 && !is_default(SIGINT) ? 0 : 1;
        });
        EXPECT_EQ(child.status, 0) << child.output;
        EXPECT_EQ(child.output, "");
        EXPECT_NE(text_of("run.pftrace").find("later"), std::string::npos);
    }
}

TEST_P(interruption_test, the_child_of_a_fork_is_ended_without_a_word) {
    if (quern::detail::k_tsan) {
        GTEST_SKIP() << "the sanitizer calls no handlers in the child of a process with threads";
    }
    const ended child = child_with(recorded(), [] {
        const runtime rt(runtime_options::with_workers(GetParam()));
        return quern_test::fork_and_wait([] {
            ::kill(::getpid(), SIGINT);
            wait_for_ever();
            return 0;
        });
    });
    EXPECT_EQ(child.status, 128 + SIGINT) << child.output;
    EXPECT_EQ(child.output, "");
}

TEST_P(interruption_test, exit_beside_a_runtime_on_the_stack_writes_what_was_recorded) {
    for (const bool in_task : {true, false}) {
        const ended child = child_with(recorded(), [&]() -> int {
            runtime rt(runtime_options::with_workers(GetParam()));
            quern::async({.name = "only", .pool = &rt.default_pool().get()}, [&] {
                if (in_task) {
                    std::exit(5);
                }
            }).get();
            std::exit(5);
        });
        EXPECT_EQ(child.status, 5) << child.output;
        EXPECT_EQ(child.output, "");
        EXPECT_NE(text_of("run.pftrace").find("only"), std::string::npos);
        std::filesystem::remove(path("run.pftrace"));
    }
}

TEST_P(interruption_test, abort_and_a_crash_say_what_is_lost) {
    const std::string lost =
        ": the trace '" + path("run.pftrace") + "', the report '" + path("run.html") + "'\n";
    const ended aborted = child_with(recorded(), []() -> int {
        const runtime rt(runtime_options::with_workers(GetParam()));
        std::abort();
    });
    EXPECT_EQ(aborted.signal, SIGABRT);
    EXPECT_EQ(aborted.output, "quern: not written, because the program aborts" + lost);
    const ended thrown = child_with(recorded(), []() -> int {
        const runtime rt(runtime_options::with_workers(GetParam()));
        std::thread([] { throw std::runtime_error("nobody catches it"); }).join();
        return 0;
    });
    EXPECT_EQ(thrown.signal, SIGABRT);
    EXPECT_TRUE(has(thrown, "because the program aborts" + lost)) << thrown.output;
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        return;  // the sanitizer reports crashes itself
    }
    const ended crashed = child_with(recorded(), []() -> int {
        quern::install_crash_handler();
        const runtime rt(runtime_options::with_workers(GetParam()));
        std::raise(SIGSEGV);
        return 0;
    });
    EXPECT_EQ(crashed.signal, SIGSEGV);
    EXPECT_TRUE(has(crashed, "because the program has crashed" + lost)) << crashed.output;
}

TEST(last_act_test, a_second_signal_ends_the_process_at_once) {
    for (const int second : {SIGINT, SIGTERM}) {
        const ended child = child_with({}, [&] {
            static std::atomic<bool> begun{false};
            const exit_action endless("it", [] {
                begun.store(true);
                wait_for_ever();
                return std::string();
            });
            ::kill(::getpid(), SIGINT);
            quern_test::eventually([] { return begun.load(); });
            ::kill(::getpid(), second);
            wait_for_ever();
            return 0;
        });
        EXPECT_EQ(child.signal, second) << child.output;
        EXPECT_EQ(child.output, "");
    }
}

TEST(last_act_test, is_performed_once_and_its_end_waits_for_a_call_that_is_going_on) {
    const ended child = child_with({}, [] {
        static std::atomic<int> calls{0};
        static std::atomic<bool> ended{false};
        {
            exit_action act("it", [] {
                calls.fetch_add(1);
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                ended.store(true);
                return std::string();
            });
            std::thread other([&] { act.perform(); });
            act.perform();
            if (!ended.load()) {
                return 1;
            }
            other.join();
        }
        return calls.load() == 1 ? 0 : 2;
    });
    EXPECT_EQ(child.status, 0) << child.output;
}

TEST(last_act_test, many_may_come_and_go_on_many_threads) {
    const ended child = child_with({}, [] {
        std::vector<std::thread> threads;
        std::atomic<int> calls{0};
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 50; ++i) {
                    exit_action act("it", [&calls] {
                        calls.fetch_add(1);
                        return std::string();
                    });
                    act.perform();
                }
            });
        }
        for (std::thread& each : threads) {
            each.join();
        }
        return calls.load() == 200 && is_default(SIGINT) ? 0 : 1;
    });
    EXPECT_EQ(child.status, 0) << child.output;
}

}  // namespace
