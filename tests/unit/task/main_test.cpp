// SPDX-License-Identifier: BSL-1.0
// quern::main: which options it takes from the command line, which arguments it passes on, and the
// exit status.
#include <quern/task/main.hpp>

#include "unit/scheduler/in_child.hpp"

#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using quern_test::in_child;
using quern_test::surroundings;

template <class Body>
quern_test::ended run(const surroundings& outside, Body body) {
    return in_child(outside, [&](int& argc, char** argv) { return quern::main(argc, argv, body); });
}

/// A program that prints its workers and its arguments.
int show(int argc, char** argv) {
    std::printf("%u workers:", quern::current_pool().workers());
    for (int i = 1; i < argc; ++i) {
        std::printf(" %s", argv[i]);
    }
    return argv[argc] == nullptr ? 0 : 1;
}

// Holds: main: Runs body() or body(argc, argv) as the first task of a runtime; the status is its
//     int, or 0.
TEST(main_function, runs_its_body_as_a_task) {
    const auto result = run({}, [] { return quern::current_worker_rank() >= 0 ? 5 : 6; });
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(run({}, [] {}).status, 0);
}

// Holds: main: Takes the options --quern:* out and hands the others on.
TEST(main_function, takes_its_options_and_hands_on_the_others) {
    const auto result = run({{}, {"--size", "--quern:threads=3", "4"}}, show);
    EXPECT_EQ(result.output, "3 workers: --size 4");
    EXPECT_EQ(result.status, 0);
}

// Holds: main: Obeys the environment.
TEST(main_function, obeys_the_environment) {
    EXPECT_EQ(run({{{"QUERN_THREADS", "3"}}, {}}, show).output, "3 workers:");
}

// Holds: main: --quern:help prints the settings and gives 0; nothing else is done.
TEST(main_function, prints_its_help_instead_of_running) {
    const auto result = run({{{"QUERN_THREADS", "0"}}, {"--quern:help"}}, show);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output, quern::settings_help());
}

// Holds: main: An unknown or bad setting is printed to stderr and gives 2.
TEST(main_function, says_what_is_wrong_with_a_setting) {
    const auto option = run({{}, {"--quern:threads=0"}}, show);
    EXPECT_EQ(option.status, 2);
    EXPECT_EQ(option.output,
              "prog: quern: threads is '0' (command line); accepted: a whole number from 1 to "
              "4096, or auto\n");
    const auto variable = run({{{"QUERN_POLICY", "foo"}}, {}}, show);
    EXPECT_EQ(variable.status, 2);
    EXPECT_EQ(variable.output,
              "prog: quern: policy is 'foo' (environment QUERN_POLICY); accepted: work-stealing, "
              "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static\n");
}

// Holds: main: An exception that leaves the body, of every type, is printed to stderr and gives 1.
TEST(main_function, prints_the_exception_that_leaves_its_body) {
    const auto result = run({}, [] { throw std::runtime_error("no more flour"); });
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "prog: no more flour\n");
}

// Holds: main: An exception that leaves...
TEST(main_function, prints_also_that_an_exception_has_no_text) {
    const auto result = run({}, [] { throw 5; });
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "prog: an exception that is no std::exception\n");
}

}  // namespace
