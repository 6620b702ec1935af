// SPDX-License-Identifier: BSL-1.0
// Queries to processes from outside: which processes answer and when, fork(), ended processes.
#include "live_case.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern::counters::ask;
using quern::counters::live_programs;
using quern_test::can_be_asked;
using quern_test::eventually;
using quern_test::fork_and_wait;
using quern_test::has;
using quern_test::live_test;
using quern_test::refusal;
namespace fs = std::filesystem;

/// Ignores programs that other tests run meanwhile.
bool is_listed(pid_t program) {
    const std::vector<pid_t> all = live_programs();
    return std::find(all.begin(), all.end(), program) != all.end();
}

// Holds: looking in: A program can be asked while it has a runtime, and is listed; afterwards
//     nothing is left.
TEST_F(live_test, a_program_answers_while_it_has_a_runtime) {
    const auto end = play([&] {
        const pid_t self = ::getpid();
        const bool before = can_be_asked(self);
        std::optional<runtime> rt(std::in_place, runtime_options::with_workers(2));
        const bool during = eventually([&] { return can_be_asked(self); });
        const std::string hello = ask(self, "hello");
        std::puts(hello.c_str());
        const bool listed = is_listed(self);
        rt.reset();
        const bool gone = !fs::exists(socket_of(self)) && !is_listed(self);
        const bool says_so = has(hello, "\"protocol\":1") &&
                             has(hello, "\"pid\":" + std::to_string(self)) &&
                             has(hello, "\"pools\":[{\"name\":\"default\",\"workers\":2}]");
        return !before && during && listed && gone && says_so ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: snapshot: pools, workers, what they do and what runs.
TEST_F(live_test, a_snapshot_names_what_runs) {
    const auto end = play([] {
        runtime rt(runtime_options::with_workers(2));
        quern_test::spin_gate gate;
        auto task = quern::async({.name = "grinder", .pool = &rt.default_pool().get()},
                                 [&] { gate.pass(); });
        const bool seen = eventually([] {
            const pid_t self = ::getpid();
            return can_be_asked(self) && has(ask(self, "snapshot"), "\"task\":\"grinder\"");
        });
        const std::string answer = ask(::getpid(), "snapshot");
        std::puts(answer.c_str());
        gate.open();
        task.get();
        return seen && has(answer, "\"policy\":\"work-stealing\"") &&
                       has(answer, "\"active_workers\":2") && has(answer, "\"rank\":1") &&
                       has(answer, "\"phase\":\"running\"")
                   ? 0
                   : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: Names of tasks may be any text.
TEST_F(live_test, names_of_tasks_may_be_any_text) {
    const auto end = play([] {
        const runtime rt(runtime_options::with_workers(1));
        quern_test::spin_gate gate;
        auto task = quern::async({.name = "a \"b\"\n\x01\xff", .pool = &rt.default_pool().get()},
                                 [&] { gate.pass(); });
        const bool seen = eventually([] {
            const pid_t self = ::getpid();
            return can_be_asked(self) &&
                   has(ask(self, "snapshot"), "\"task\":\"a \\\"b\\\"\\n\\u0001\xEF\xBF\xBD\"");
        });
        std::puts(ask(::getpid(), "snapshot").c_str());
        gate.open();
        task.get();
        return seen ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: tasks: the task report.
TEST_F(live_test, tasks_are_those_that_wait_and_for_what) {
    const auto end = play([] {
        runtime rt(runtime_options::with_workers(1));
        quern::event go_on;
        auto task = quern::async({.name = "waiter", .pool = &rt.default_pool().get()},
                                 [&] { go_on.wait(); });
        const bool seen = eventually([] {
            const pid_t self = ::getpid();
            return can_be_asked(self) && has(ask(self, "tasks"), "task 'waiter' waits");
        });
        go_on.set();
        task.get();
        return seen ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: An unknown question is answered with the nearest one that is known.
TEST_F(live_test, a_question_that_it_does_not_know_is_answered_with_the_nearest) {
    const auto end = play([] {
        const runtime rt(runtime_options::with_workers(1));
        const pid_t self = ::getpid();
        eventually([&] { return can_be_asked(self); });
        const std::string answer = ask(self, "snapshto");
        std::puts(answer.c_str());
        return has(answer, "\"error\":\"unknown request 'snapshto'; accepted: hello, snapshot") &&
                       has(answer, "did you mean 'snapshot'?")
                   ? 0
                   : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: One thread serves all runtimes of the process.
TEST_F(live_test, one_thread_serves_all_runtimes) {
    const auto end = play([] {
        const std::size_t before = quern_test::thread_count_at_rest();
        std::optional<runtime> first(std::in_place, runtime_options::with_workers(1));
        const runtime second({.pools = {{.name = "second", .workers = 1}}});
        const std::size_t during = quern_test::thread_count();
        const pid_t self = ::getpid();
        eventually([&] { return can_be_asked(self); });
        const bool both =
            has(ask(self, "hello"), "\"default\"") && has(ask(self, "hello"), "\"second\"");
        first.reset();
        const std::string one = ask(self, "hello");
        return during == before + 3 && both && !has(one, "\"default\"") && has(one, "\"second\"")
                   ? 0
                   : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: live=off: no thread, and the refusal says so.
TEST_F(live_test, it_can_be_turned_off) {
    const auto end = play(
        [] {
            const std::size_t before = quern_test::thread_count_at_rest();
            const runtime rt(runtime_options::with_workers(1));
            const bool no_thread = quern_test::becomes_thread_count(before + 1);
            const std::string why = refusal(::getpid());
            std::puts(why.c_str());
            return no_thread && has(why, "the setting live is off") ? 0 : 1;
        },
        {{"QUERN_LIVE", "off"}});
    EXPECT_EQ(end.status, 0) << end.output;
}

/// Whether this process has a socket open.
bool has_sockets() {
    for (const auto& each : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (has(fs::read_symlink(each.path(), gone).string(), "socket:")) {
            return true;
        }
    }
    return false;
}

// Holds: looking in: The child of a fork() has nothing of its parent's open and a name of its own.
TEST_F(live_test, the_child_of_a_fork_has_a_name_of_its_own_and_nothing_of_its_parents) {
    if (quern::detail::k_tsan || quern::detail::k_asan) {
        GTEST_SKIP() << "the sanitizers do not allow threads in the child of a fork";
    }
    const auto end = play([] {
        const runtime rt(runtime_options::with_workers(2));
        const pid_t parent = ::getpid();
        eventually([&] { return can_be_asked(parent); });
        const int in_child = fork_and_wait([&] {
            const pid_t self = ::getpid();
            if (has_sockets() || can_be_asked(self)) {
                return 1;
            }
            const runtime own({.pools = {{.name = "own", .workers = 1}}});
            const bool serves = eventually([&] { return can_be_asked(self); });
            const bool two = is_listed(self) && is_listed(parent);
            const std::string of_child = ask(self, "hello");
            const std::string of_parent = ask(parent, "hello");
            return serves && two && has(of_child, "\"own\"") && !has(of_child, "\"default\"") &&
                           has(of_parent, "\"default\"")
                       ? 0
                       : 2;
        });
        return can_be_asked(parent) ? in_child : 3;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: What a program that has died left behind is removed, and cannot_ask says that
//     it has ended.
TEST_F(live_test, one_that_has_died_has_ended_and_leaves_nothing) {
    const auto end = play([&] {
        int ends[2];
        if (::pipe(ends) != 0) {
            return 9;
        }
        const pid_t child = ::fork();
        if (child == 0) {
            const runtime rt(runtime_options::with_workers(1));
            eventually([] { return can_be_asked(::getpid()); });
            static_cast<void>(!::write(ends[1], "r", 1));
            ::pause();
        }
        char ready = 0;
        static_cast<void>(!::read(ends[0], &ready, 1));
        const std::string alive = refusal(child);
        ::kill(child, SIGKILL);
        const int status = quern_test::wait_for_child(child);
        const bool left = fs::exists(socket_of(child));
        const std::string why = refusal(child);
        const bool cleared = !fs::exists(socket_of(child)) && !is_listed(child);
        const std::string gone = refusal(child);
        std::printf(
            "alive: '%s'; killed: %d; socket left: %d; then: '%s'; cleared: %d; then: '%s'\n",
            alive.c_str(), status, left, why.c_str(), cleared, gone.c_str());
        return alive.empty() && status == 128 + SIGKILL && left && cleared &&
                       has(why, "program " + std::to_string(child) + " has ended") &&
                       has(gone, "there is no program")
                   ? 0
                   : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: exit() in a task leaves nothing.
TEST_F(live_test, exit_in_a_task_leaves_nothing) {
    const auto end = play([&] {
        return fork_and_wait([] {
            quern::async([] {
                eventually([] { return can_be_asked(::getpid()); });
                std::exit(7);
            }).get();
            return 1;
        });
    });
    EXPECT_EQ(end.status, 7) << end.output;
    EXPECT_TRUE(fs::is_empty(folder()));
}

// Holds: looking in: A folder that others may enter is used by neither side.
TEST_F(live_test, a_folder_that_others_may_enter_is_not_used) {
    fs::create_directory(folder());
    ::chmod(folder().c_str(), S_IRWXU | S_IRGRP | S_IXGRP);
    const auto end = play([&] {
        const runtime rt(runtime_options::with_workers(1));
        const std::string why = refusal(::getpid());
        std::puts(why.c_str());
        return has(why, "is not to be trusted: others may enter it") && fs::is_empty(folder()) ? 0
                                                                                               : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST_F(live_test, a_folder_of_the_users_that_cannot_be_made_is_told_of) {
    const std::string chosen = folder() + "/none/live";
    const std::string told = folder() + ".err";
    const auto end = play(
        [&] {
            if (std::freopen(told.c_str(), "w", stderr) == nullptr ||
                std::setvbuf(stderr, nullptr, _IONBF, 0) != 0) {
                return 2;
            }
            const runtime rt(runtime_options::with_workers(1));
            // Not by a program that ends at once, which could not be queried anyway.
            return eventually([&] { return fs::file_size(told) != 0; }) ? 0 : 1;
        },
        {{"QUERN_LIVE_FOLDER", chosen}});
    EXPECT_EQ(end.status, 0) << end.output;
    std::ifstream file(told);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_TRUE(has(text, "quern: live-folder is '" + chosen + "': No such file")) << text;
}

}  // namespace
