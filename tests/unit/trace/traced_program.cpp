// SPDX-License-Identifier: BSL-1.0
// A program with tasks of all kinds, for the tests of the settings `trace` and `profile`: named
// ones, nested ones, ones that wait, ones that are inlined, and stolen forks. Its first argument is
// the number of further small tasks; the second may be "two", for a runtime before that one,
// "exit", or "while", for a command that is run meanwhile: the third one.
#include <quern/counters/detail/attach.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/recorder.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

namespace {

long fib(int n) {
    if (n < 2) {
        return n;
    }
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

void grandchildren() {
    quern::task_group group;
    for (int i = 0; i < 10; ++i) {
        group.run({.name = "grandchild"},
                  [] { quern::this_task::sleep_for(std::chrono::milliseconds(1)); });
    }
    group.wait();
}

void small_tasks(int count) {
    quern::task_group group;
    for (int i = 0; i < count; ++i) {
        group.run({.name = "small"}, [] {});
    }
    group.wait();
}

int run(int small) {
    std::vector<quern::future<void>> children;
    for (int i = 0; i < 4; ++i) {
        children.push_back(quern::async({.name = "child"}, grandchildren));
    }
    for (auto& child : children) {
        child.get();
    }
    quern::trace::mark("children have ended");
    quern::trace::sample("small tasks", small);
    small_tasks(small);
    return quern::async({.name = "inlined \"one\""}, [] { return fib(20); }).get() == 6765 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    const int small = argc > 1 ? std::atoi(argv[1]) : 100;
    const std::string_view how = argc > 2 ? argv[2] : "";
    if (how == "exit") {
        quern::async([] { std::exit(7); }).get();
    }
    if (how == "two") {
        quern::runtime before;
        quern::async(before, [] {}).get();
    }
    quern::runtime rt;
    if (how == "while" && argc > 3 && std::system(argv[3]) != 0) {
        return 3;
    }
    const int status =
        quern::async({.name = "main task", .pool = &rt.default_pool().get()}, run, small).get();
    quern::trace::mark("test", "ends");
    return status;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
