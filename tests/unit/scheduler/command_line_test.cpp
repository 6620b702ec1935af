// SPDX-License-Identifier: BSL-1.0
// The options --quern:*, their help and their errors, and the settings that a program makes for all
// its runtimes. Cases that change process-wide settings run in a child process.
#include <quern/settings/settings.hpp>

#include "all_settings.hpp"
#include "in_child.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>

namespace {

using quern::current_settings;
using quern::runtime;
using quern::runtime_options;
using quern::setting;
using quern::take_command_line;
using quern_test::command_line;
using quern_test::in_child;
using quern_test::show_threads;
using quern_test::surroundings;

std::string threads_of(const surroundings& outside) {
    return in_child(outside, [](int& argc, char** argv) { return show_threads(argc, argv); })
        .output;
}

std::string error_of(const std::vector<std::string>& arguments) {
    const auto result = in_child({.arguments = arguments},
                                 [](int& argc, char** argv) { return show_threads(argc, argv); });
    EXPECT_EQ(result.status, 99);
    return result.output;
}

// Holds: settings: take_command_line(): takes its options out of argc and argv, up to "--", and
//     leaves the others.
TEST(command_line_options, are_taken_out) {
    command_line line({"one", "--quern:threads=2", "--two", "--quern:bind=compact", "three"});
    EXPECT_TRUE(in_child({}, [&](int&, char**) {
                    const bool go_on = take_command_line(line.argc, line.argv());
                    const bool right =
                        line.left() == std::vector<std::string>{"one", "--two", "three"} &&
                        line.argv()[line.argc] == nullptr;
                    return go_on && right ? 0 : 1;
                }).status == 0);
}

// Holds: settings: take_command_line(): takes its options...
TEST(command_line_options, leave_other_arguments_alone) {
    const std::vector<std::string> others{
        "--quern", "--quernthreads=2", "-quern:threads=2", "quern:threads=2",
        "--",      "--quern:elephant"};
    command_line line(others);
    EXPECT_TRUE(take_command_line(line.argc, line.argv()));
    EXPECT_EQ(line.left(), others);
}

TEST(command_line_options, may_be_absent_altogether) {
    int argc = 0;
    char* argv[] = {nullptr};
    EXPECT_TRUE(take_command_line(argc, argv));
    EXPECT_EQ(argc, 0);
}

constexpr quern::setting k_toys[] = {{.name = "toy-list",
                                      .owner = "toy",
                                      .type = quern::setting_type::text,
                                      .fallback = "",
                                      .help = "a list",
                                      .is_list = true},
                                     {.name = "toy-bare",
                                      .owner = "toy",
                                      .type = quern::setting_type::text,
                                      .fallback = "no",
                                      .help = "may stand alone",
                                      .bare = "minimal"}};
const bool k_registered = (quern::register_settings(k_toys), true);

TEST(command_line_options, that_are_lists_add_up_where_they_are_repeated) {
    ASSERT_TRUE(k_registered);
    const auto result = in_child({.variables = {{"QUERN_TOY_LIST", "/not/this"}},
                                  .arguments = {"--quern:toy-list=/a/*", "--quern:threads=2",
                                                "--quern:threads=3", "--quern:toy-list=/b;/c"}},
                                 [](int& argc, char** argv) {
                                     const bool go_on = take_command_line(argc, argv);
                                     const auto now = current_settings();
                                     std::printf("%s %s", now.at("toy-list").text.c_str(),
                                                 now.at("threads").text.c_str());
                                     return go_on ? 0 : 1;
                                 });
    EXPECT_EQ(result.output, "/a/*;/b;/c 3");
}

// Holds: runtime: default_instance(): one for the...
// Holds: settings: take_command_line(): for all runtimes that are made later.
TEST(command_line_options, choose_what_a_runtime_gets) {
    EXPECT_EQ(threads_of({.arguments = {"--quern:threads=3"}}), "3 from command line, 3 workers");
    const auto result = in_child(
        {.arguments = {"--quern:threads=3", "--quern:policy=priority-local-fifo",
                       "--quern:stack=small", "--quern:active-workers=2", "--quern:spin-us=7"}},
        [](int& argc, char** argv) {
            if (!take_command_line(argc, argv)) {
                return 1;
            }
            const quern::pool_ref pool = runtime::default_instance().default_pool();
            std::printf("%u %s %d %u %u", pool.workers(), std::string(pool.policy()).c_str(),
                        static_cast<int>(pool.get().stacks()), pool.active_workers(),
                        pool.get().knobs().spin_us.load());
            return 0;
        });
    EXPECT_EQ(result.output, "3 priority-local-fifo 0 2 7");
}

TEST(command_line_options, count_from_left_to_right_and_from_call_to_call) {
    EXPECT_EQ(threads_of({.arguments = {"--quern:threads=3", "--quern:threads=2"}}),
              "2 from command line, 2 workers");
    const auto twice = in_child({.arguments = {"--quern:threads=3"}}, [](int& argc, char** argv) {
        const bool first = take_command_line(argc, argv);
        return first && show_threads(argc, argv) == 0 ? 0 : 1;
    });
    EXPECT_EQ(twice.output, "3 from command line, 3 workers");
}

/// The value of a setting after such a command line.
std::string value_after(const std::string& argument, const char* name) {
    return in_child({.arguments = {argument}},
                    [name](int& argc, char** argv) {
                        const bool go_on = take_command_line(argc, argv);
                        std::fputs(current_settings().at(name).text.c_str(), stdout);
                        return go_on && argc == 1 ? 0 : 1;
                    })
        .output;
}

TEST(command_line_options, have_names_with_dashes_or_underscores) {
    EXPECT_EQ(value_after("--quern:spin-us=7", "spin-us"), "7");
    EXPECT_EQ(value_after("--quern:spin_us=7", "spin-us"), "7");
    EXPECT_EQ(value_after("--quern:toy_list=csv", "toy-list"), "csv");
}

TEST(command_line_options, may_mean_something_without_a_value) {
    EXPECT_EQ(value_after("--quern:toy-bare", "toy-bare"), "minimal");
    EXPECT_EQ(value_after("--quern:toy-bare=full", "toy-bare"), "full");
}

// Holds: settings: take_command_line(): std::invalid_argument for unknown options and bad values;
//     argc and argv are then as before, and nothing counts.
TEST(command_line_options, that_are_unknown_are_errors) {
    const std::string accepted =
        "; accepted: " + quern_test::all_settings("--quern:") + ", --quern:help";
    EXPECT_EQ(error_of({"--quern:thread=2"}),
              "quern: unknown option --quern:thread=2; did you mean '--quern:threads'?");
    EXPECT_EQ(error_of({"--quern:spin=2"}),
              "quern: unknown option --quern:spin=2; did you mean '--quern:spin-us'?");
    EXPECT_EQ(error_of({"--quern:hlep"}),
              "quern: unknown option --quern:hlep; did you mean '--quern:help'?");
    EXPECT_EQ(error_of({"--quern:elephant"}),
              "quern: unknown option --quern:elephant" + accepted + quern_test::k_elsewhere);
    EXPECT_EQ(error_of({"--quern:"}),
              "quern: unknown option --quern:" + accepted + quern_test::k_elsewhere);
    EXPECT_EQ(error_of({"--quern:=2"}),
              "quern: unknown option --quern:=2" + accepted + quern_test::k_elsewhere);
}

// Holds: settings: take_command_line(): std::invalid_argument for unknown...
TEST(command_line_options, of_bad_values_are_errors) {
    EXPECT_EQ(error_of({"--quern:threads=0"}),
              "quern: threads is '0' (command line); accepted: a whole number from 1 to 4096, or "
              "auto");
    EXPECT_EQ(error_of({"--quern:policy=work"}),
              "quern: policy is 'work' (command line); accepted: work-stealing, "
              "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static; did you mean "
              "'work-stealing'?");
    EXPECT_EQ(error_of({"--quern:spin-us=1000001"}),
              "quern: spin-us is '1000001' (command line); accepted: a whole number from 0 to "
              "1000000");
    EXPECT_EQ(error_of({"--quern:threads="}),
              "quern: threads is '' (command line); accepted: a whole number from 1 to 4096, or "
              "auto");
    EXPECT_EQ(error_of({"--quern:threads", "2"}),
              "quern: option --quern:threads needs a value: --quern:threads=VALUE; accepted: a "
              "whole number from 1 to 4096, or auto");
    EXPECT_EQ(error_of({"--quern:help=full"}), "quern: option --quern:help takes no value");
}

// Holds: settings: take_command_line(): std::invalid_argument for unknown...
TEST(command_line_options, that_are_errors_change_nothing) {
    const std::vector<std::string> arguments{"--quern:threads=2", "--quern:threads=0"};
    command_line line(arguments);
    EXPECT_THROW((void)take_command_line(line.argc, line.argv()), std::invalid_argument);
    EXPECT_EQ(line.left(), arguments);
    EXPECT_EQ(current_settings().at("threads").origin, "default");
}

// Holds: settings: take_command_line(): prints the help and returns false for --quern:help.
// Holds: settings: settings_help(): every setting with what it accepts, and examples.
TEST(command_line_help, shows_the_whole_table) {
    const auto result = in_child({.arguments = {"--quern:help"}},
                                 [](int& argc, char** argv) { return show_threads(argc, argv); });
    EXPECT_EQ(result.status, 7) << "take_command_line did not say that the program should end";
    EXPECT_EQ(result.output, quern::settings_help());
    for (const setting& row : quern::setting_table()) {
        EXPECT_NE(result.output.find(row.option() + "=VALUE"), std::string::npos) << row.name;
        EXPECT_NE(result.output.find(row.accepted()), std::string::npos) << row.name;
        EXPECT_NE(result.output.find(row.help), std::string::npos) << row.name;
    }
    EXPECT_NE(result.output.find("Examples"), std::string::npos);
}

// What the program says

// Holds: settings: current_settings(): defaults < file...
TEST(set_setting, stands_between_environment_and_command_line) {
    const auto child = [](std::vector<std::string> arguments) {
        return in_child({{{"QUERN_THREADS", "4"}}, std::move(arguments)},
                        [](int& argc, char** argv) {
                            quern::set_setting("threads", "3", "option -t");
                            return show_threads(argc, argv);
                        })
            .output;
    };
    EXPECT_EQ(child({}), "3 from option -t, 3 workers");
    EXPECT_EQ(child({"--quern:threads=2"}), "2 from command line, 2 workers");
}

// Holds: settings: current_settings(): defaults < file...
TEST(set_setting, yields_to_the_options_of_a_runtime) {
    const auto result = in_child({}, [](int& argc, char** argv) {
        quern::set_setting("threads", "3");
        return show_threads(argc, argv, runtime_options::with_workers(2));
    });
    EXPECT_EQ(result.output, "3 from program, 2 workers");
}

// Holds: settings: set_setting(): std::invalid_argument for an unknown name and a bad value, with
//     the origin that was given.
TEST(set_setting, refuses_what_the_table_does_not_have) {
    const auto error = [](const char* name, const char* value) -> std::string {
        try {
            quern::set_setting(name, value, "option -t");
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(
        error("threads", "x"),
        "quern: threads is 'x' (option -t); accepted: a whole number from 1 to 4096, or auto");
    EXPECT_NE(error("thread", "2").find("did you mean 'threads'?"), std::string::npos);
    EXPECT_EQ(current_settings().at("threads").origin, "default");
}

// Holds: runtime: Options that are not...
TEST(options_of_a_runtime, are_checked_like_all_others) {
    const auto error = [](const quern::pool_options& pool) -> std::string {
        runtime_options options;
        options.pools = {pool};
        try {
            const runtime rt(options);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(error({.workers = 4097}),
              "quern: threads is '4097' (program, pool 'default'); accepted: a whole number from 1 "
              "to 4096, or auto");
    EXPECT_EQ(error({.name = "io", .policy = "fifo"}),
              "quern: policy is 'fifo' (program, pool 'io'); accepted: work-stealing, "
              "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static");
    EXPECT_EQ(error({.workers = 1, .active_workers = 2}),
              "quern: active-workers is '2' (program, pool 'default'); accepted: a whole number "
              "from 1 to 1, the workers of pool 'default'");
    EXPECT_NE(error({.active_workers = 0}).find("active-workers is '0'"), std::string::npos);
    EXPECT_NE(error({.spin_us = 4'000'000}).find("spin-us is '4000000'"), std::string::npos);
}

}  // namespace
