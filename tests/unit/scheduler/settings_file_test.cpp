// SPDX-License-Identifier: BSL-1.0
// The TOML file that the setting config names: its values, their origins, and its errors, with the
// line.
#include <quern/settings/settings.hpp>

#include "all_settings.hpp"
#include "in_child.hpp"

#include <quern/scheduler/runtime.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

using quern_test::in_child;

class settings_file_test : public testing::Test {
protected:
    settings_file_test() {
        std::filesystem::create_directories(folder);
        std::filesystem::current_path(folder);
    }
    ~settings_file_test() override {
        std::filesystem::current_path("/");
        std::filesystem::remove_all(folder);
    }

    /// The result of a file: all values that are not defaults, or the error.
    static std::string read(const std::string& content) {
        std::ofstream("quern.toml", std::ios::binary) << content;
        return read_through({{{"QUERN_CONFIG", "quern.toml"}}, {}});
    }

    static std::string read_through(const quern_test::surroundings& outside) {
        return in_child(outside, show_settings).output;
    }

    static int show_settings(int& argc, char** argv) {
        if (!quern::take_command_line(argc, argv)) {
            return 1;
        }
        const quern::settings all = quern::current_settings();
        for (const quern::setting& row : quern::setting_table()) {
            const quern::setting_value& value = all.at(row.name);
            if (value.source != quern::setting_source::fallback && row.name != "config") {
                std::printf("%s=%s (%s)\n", std::string(row.name).c_str(), value.text.c_str(),
                            value.origin.c_str());
            }
        }
        return 0;
    }

    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                         ("quern_settings_" + std::to_string(::getpid()));
};

// Holds: settings: File: values with the line as origin; read only when it is named.
TEST_F(settings_file_test, gives_values_with_their_lines) {
    EXPECT_EQ(read("# mine\nthreads = 2\n\npolicy = \"priority-local-fifo\"\nbind = '0,2-5'\n"
                   "stack = \"large\"\nactive_workers = 1\nspin_us = 0x10\n"),
              "threads=2 (file quern.toml:2)\n"
              "policy=priority-local-fifo (file quern.toml:4)\n"
              "bind=0,2-5 (file quern.toml:5)\n"
              "stack=large (file quern.toml:6)\n"
              "active-workers=1 (file quern.toml:7)\n"
              "spin-us=16 (file quern.toml:8)\n");
}

TEST_F(settings_file_test, may_write_words_and_numbers_as_strings) {
    EXPECT_EQ(read("threads = \"auto\"\nspin_us = \"7\"\nbind = 0"),
              "threads=auto (file quern.toml:1)\nbind=0 (file quern.toml:3)\n"
              "spin-us=7 (file quern.toml:2)\n");
}

TEST_F(settings_file_test, may_be_empty) { EXPECT_EQ(read(""), ""); }

TEST_F(settings_file_test, is_obeyed_by_a_runtime) {
    std::ofstream("quern.toml") << "threads = 3\nactive_workers = 2\n";
    const auto result = in_child({{}, {"--quern:config=quern.toml"}}, [](int& argc, char** argv) {
        if (!quern::take_command_line(argc, argv)) {
            return 1;
        }
        const quern::runtime rt;
        std::printf("%u %u", rt.workers(), rt.default_pool().active_workers());
        return 0;
    });
    EXPECT_EQ(result.output, "3 2");
}

// Holds: settings: File: values with the...
TEST_F(settings_file_test, is_read_only_when_it_is_named) {
    std::ofstream("quern.toml") << "threads = 3\n";
    EXPECT_EQ(read_through({}), "");
}

TEST_F(settings_file_test, of_the_command_line_replaces_that_of_the_environment) {
    std::ofstream("a.toml") << "threads = 2\n";
    std::ofstream("b.toml") << "spin-us = 3\n";
    EXPECT_EQ(read_through({{{"QUERN_CONFIG", "a.toml"}}, {"--quern:config=b.toml"}}),
              "spin-us=3 (file b.toml:1)\n");
}

// Holds: settings: File: unknown keys, bad values, wrong types, bad TOML, and a file that cannot be
//     read are errors that name the place.
TEST_F(settings_file_test, may_not_have_unknown_keys) {
    const std::string accepted = "; accepted: " + quern_test::all_settings("", "config");
    EXPECT_EQ(read("\n\nthread = 2\n"),
              "quern: unknown key 'thread' (file quern.toml:3); did you mean 'threads'?");
    EXPECT_EQ(read("[runtime]\nthreads = 2\n"), "quern: unknown key 'runtime' (file quern.toml:1)" +
                                                    accepted + quern_test::k_elsewhere);
    EXPECT_EQ(read("config = 'other.toml'\n"), "quern: unknown key 'config' (file quern.toml:1)" +
                                                   accepted + quern_test::k_elsewhere);
}

// Holds: settings: File: unknown keys, bad...
TEST_F(settings_file_test, may_not_have_bad_values) {
    EXPECT_EQ(read("stack = 'small'\nthreads = 0\n"),
              "quern: threads is '0' (file quern.toml:2); accepted: a whole number from 1 to 4096, "
              "or auto");
    EXPECT_EQ(read("threads = -5\n"),
              "quern: threads is '-5' (file quern.toml:1); accepted: a whole number from 1 to "
              "4096, or auto");
    EXPECT_EQ(read("policy = 'work-staeling'\n"),
              "quern: policy is 'work-staeling' (file quern.toml:1); accepted: work-stealing, "
              "priority-local-fifo, priority-local-lifo, sherwood, nemesis, static; did you mean "
              "'work-stealing'?");
}

// Holds: settings: File: unknown keys, bad...
TEST_F(settings_file_test, may_not_have_values_of_other_types) {
    const std::string accepted = "; accepted: a whole number or a string";
    EXPECT_EQ(read("threads = true"),
              "quern: threads is of type boolean (file quern.toml:1)" + accepted);
    EXPECT_EQ(read("threads = 2.0"),
              "quern: threads is of type floating-point (file quern.toml:1)" + accepted);
    EXPECT_EQ(read("bind = [0, 1]"), "quern: bind is of type array (file quern.toml:1)" + accepted);
    EXPECT_EQ(read("threads.count = 2"),
              "quern: threads is of type table (file quern.toml:1)" + accepted);
}

// Holds: settings: File: unknown keys, bad...
TEST_F(settings_file_test, that_is_no_toml_is_an_error_with_line_and_column) {
    const std::string text = read("threads = 2\npolicy = work-stealing\n");
    EXPECT_EQ(text.find("quern: quern.toml:2:10: "), 0U) << text;
    const std::string twice = read("threads = 2\nthreads = 3\n");
    EXPECT_EQ(twice.find("quern: quern.toml:2:"), 0U) << twice;
    const std::string open = read("bind = \"compact");
    EXPECT_EQ(open.find("quern: quern.toml:1:"), 0U) << open;
    const std::string binary = read(std::string("\xff\xfe\0\x01", 4));
    EXPECT_EQ(binary.find("quern: quern.toml:1:"), 0U) << binary;
}

// Holds: settings: File: unknown keys, bad...
TEST_F(settings_file_test, that_cannot_be_read_is_an_error) {
    EXPECT_EQ(read_through({{{"QUERN_CONFIG", "missing.toml"}}, {}}),
              "quern: config is 'missing.toml' (environment QUERN_CONFIG); cannot be read: No such "
              "file or directory");
    EXPECT_EQ(read_through({{}, {"--quern:config=."}}),
              "quern: config is '.' (command line); cannot be read: Is a directory");
}

}  // namespace
