// SPDX-License-Identifier: BSL-1.0
// A program that does not catch exceptions of Quern, and is given a bad setting.
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>

#include "in_child.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using quern_test::in_child;
using quern_test::surroundings;

constexpr const char* k_message =
    "quern: threads is '0' (environment QUERN_THREADS); accepted: a whole number from 1 to 4096, "
    "or auto\n";

/// On a thread, because nothing catches the exceptions of its function, as with main. (An exception
/// that leaves a noexcept function may be unknown to the handler: gcc 12 then ends the program
/// without the exception's text.)
template <class Body>
quern_test::ended in_plain_program(const surroundings& outside, Body body) {
    return in_child(outside, [&body](int& argc, char** argv) {
        std::thread([&] { body(argc, argv); }).join();
        return 0;
    });
}

const surroundings k_bad{{{"QUERN_THREADS", "0"}}, {}};

// Holds: settings: A bad setting whose exception is not caught ends the program with its message
//     and status 2, whichever call reads it; it can be caught, and a terminate handler of the
//     program's own is left alone.
TEST(a_bad_setting, ends_a_program_that_starts_a_task) {
    const auto ended = in_plain_program(k_bad, [](int&, char**) { quern::async([] {}).get(); });
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.output, k_message);
}

// Holds: settings: A bad setting whose...
TEST(a_bad_setting, ends_a_program_that_makes_a_runtime) {
    const auto ended = in_plain_program(k_bad, [](int&, char**) { const quern::runtime rt; });
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.output, k_message);
}

TEST(a_bad_setting, may_be_one_that_there_is_not) {
    const auto ended = in_plain_program({{{"QUERN_THREDS", "2"}}, {}},
                                        [](int&, char**) { quern::async([] {}).get(); });
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.output.find("did you mean 'QUERN_THREADS'?\n"), std::string::npos)
        << ended.output;
}

// Holds: settings: A bad setting whose...
TEST(a_bad_setting, may_be_an_option) {
    const auto ended = in_plain_program({{}, {"--quern:thread=2"}}, [](int& argc, char** argv) {
        (void)quern::take_command_line(argc, argv);
    });
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.output.find("did you mean '--quern:threads'?\n"), std::string::npos)
        << ended.output;
}

TEST(a_bad_setting, may_be_in_a_file) {
    const auto ended = in_plain_program({{{"QUERN_CONFIG", "/no/such/file"}}, {}},
                                        [](int&, char**) { quern::async([] {}).get(); });
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.output.find("cannot be read"), std::string::npos) << ended.output;
}

// Holds: settings: A bad setting whose...
TEST(a_bad_setting, can_be_caught_and_thrown_on) {
    const auto ended = in_plain_program(k_bad, [](int&, char**) {
        try {
            quern::async([] {}).get();
        } catch (const std::invalid_argument& error) {
            std::fputs("caught\n", stderr);
            throw;
        }
    });
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.output, std::string("caught\n") + k_message);
}

// Holds: settings: A bad setting whose...
TEST(a_bad_setting, that_was_caught_changes_nothing_for_other_exceptions) {
    const auto ended = in_plain_program(k_bad, [](int&, char**) {
        try {
            quern::async([] {}).get();
        } catch (const quern::bad_setting&) {
        }
        throw std::runtime_error("no more flour");
    });
    EXPECT_EQ(ended.signal, SIGABRT);
    EXPECT_NE(ended.output.find("no more flour"), std::string::npos) << ended.output;
}

// Holds: settings: A bad setting whose...
TEST(a_bad_setting, is_left_to_a_program_that_handles_what_nobody_catches) {
    const auto ended = in_plain_program(k_bad, [](int&, char**) {
        std::set_terminate([] { std::_Exit(7); });
        quern::async([] {}).get();
    });
    EXPECT_EQ(ended.status, 7);
    EXPECT_EQ(ended.output, "");
}

}  // namespace
