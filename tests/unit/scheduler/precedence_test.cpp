// SPDX-License-Identifier: BSL-1.0
// The precedence of settings: all pairs of default < file < environment < program < command line,
// where the program sets the whole process or one runtime's options.
#include <quern/settings/settings.hpp>

#include "in_child.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace {

using quern::runtime_options;
using quern_test::in_child;
using quern_test::show_threads;
using quern_test::surroundings;

enum source { by_default, by_file, by_environment, by_program, by_command_line };

struct pair_of_sources {
    source low, high;
};

class precedence_test : public testing::TestWithParam<pair_of_sources> {};

/// A file, an environment and a command line in which each of the two sources gives its own number.
surroundings surroundings_of(const pair_of_sources& two, const std::string& file) {
    surroundings outside;
    for (const source each : {two.low, two.high}) {
        const std::string number = std::to_string(each + 1);
        if (each == by_file) {
            std::ofstream(file) << "threads = " << number << "\n";
            outside.variables.emplace_back("QUERN_CONFIG", file);
        } else if (each == by_environment) {
            outside.variables.emplace_back("QUERN_THREADS", number);
        } else if (each == by_command_line) {
            outside.arguments.push_back("--quern:threads=" + number);
        }
    }
    return outside;
}

// Holds: settings: current_settings(): defaults < file < environment < set_setting <
//     runtime_options < command line.
TEST_P(precedence_test, the_stronger_source_wins) {
    const auto [low, high] = GetParam();
    const std::string file = testing::TempDir() + "quern_precedence.toml";
    const surroundings outside = surroundings_of(GetParam(), file);
    const bool is_said = low == by_program || high == by_program;
    const std::string origins[] = {"default", "file " + file + ":1", "environment QUERN_THREADS",
                                   "program", "command line"};
    const std::string number = std::to_string(high + 1);

    const auto for_all = in_child(outside, [&](int& argc, char** argv) {
        if (is_said) {
            quern::set_setting("threads", std::to_string(by_program + 1));
        }
        return show_threads(argc, argv);
    });
    EXPECT_EQ(for_all.output, number + " from " + origins[high] + ", " + number + " workers");

    const auto for_one = in_child(outside, [&](int& argc, char** argv) {
        runtime_options options;
        if (is_said) {
            options.pools.front().workers = by_program + 1;
        }
        return show_threads(argc, argv, options);
    });
    EXPECT_NE(for_one.output.find(", " + number + " workers"), std::string::npos) << for_one.output;
    std::remove(file.c_str());
}

std::string name_of_pair(const testing::TestParamInfo<pair_of_sources>& info) {
    constexpr const char* names[] = {"default", "file", "environment", "program", "command_line"};
    return std::string(names[info.param.low]) + "_and_" + names[info.param.high];
}

INSTANTIATE_TEST_SUITE_P(of, precedence_test,
                         testing::Values(pair_of_sources{by_default, by_file},
                                         pair_of_sources{by_default, by_environment},
                                         pair_of_sources{by_default, by_program},
                                         pair_of_sources{by_default, by_command_line},
                                         pair_of_sources{by_file, by_environment},
                                         pair_of_sources{by_file, by_program},
                                         pair_of_sources{by_file, by_command_line},
                                         pair_of_sources{by_environment, by_program},
                                         pair_of_sources{by_environment, by_command_line},
                                         pair_of_sources{by_program, by_command_line}),
                         name_of_pair);

}  // namespace
