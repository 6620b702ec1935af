// SPDX-License-Identifier: BSL-1.0
// docs/configuration.md shows the table of settings as the code has it, and its examples are true.
// To correct the page, copy the table that the failure prints.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string text_of(const char* file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string expected_table() {
    std::string table =
        "| name | variable | accepted | default | what it does |\n|---|---|---|---|---|\n";
    for (const quern::setting& row : quern::setting_table()) {
        table += "| " + code(row.name) + " | " + code(row.variable()) + " | " + row.accepted() +
                 " | " + (row.fallback.empty() ? "none" : code(row.fallback)) + " | " +
                 std::string(row.help) + " |\n";
    }
    return table;
}

// Holds: settings: configuration.md shows the table, a file that is accepted, and the messages as
//     they are.
TEST(configuration_page, shows_the_table) {
    const std::string page = text_of(CONFIGURATION_PAGE);
    const std::string table = expected_table();
    EXPECT_NE(page.find("\n" + table + "\n"), std::string::npos) << table;
}

/// The block of code after the line that announces it.
std::string block_after(const std::string& page, const std::string& announcement) {
    const std::size_t line = page.find(announcement);
    const std::size_t begin = page.find("```", line);
    const std::size_t content = page.find('\n', begin) + 1;
    return page.substr(content, page.find("```", content) - content);
}

// Holds: settings: configuration.md shows the table...
TEST(configuration_page, shows_a_file_that_is_accepted) {
    const std::string file = testing::TempDir() + "quern_page.toml";
    std::ofstream(file) << block_after(text_of(CONFIGURATION_PAGE), "`quern.toml`:\n");
    quern::set_setting("config", file);
    const quern::settings all = quern::current_settings();
    EXPECT_EQ(all.at("threads").origin, "file " + file + ":2");
    EXPECT_EQ(all.at("policy").text, "priority-local-fifo");
    EXPECT_EQ(all.at("bind").text, "0,2-5");
    std::remove(file.c_str());
}

/// The library's message about a bad value or name.
template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

// Holds: settings: configuration.md shows the table...
TEST(configuration_page, shows_the_messages_as_they_are) {
    const std::string page = text_of(CONFIGURATION_PAGE);
    const std::string messages[] = {
        error_of([] {
            quern::settings().set("threads",
                                  {"0", quern::setting_source::file, "file quern.toml:2"});
        }),
        error_of([] {
            char program[] = "prog", option[] = "--quern:thread=2";
            char* argv[] = {program, option, nullptr};
            int argc = 2;
            (void)quern::take_command_line(argc, argv);
        })};
    for (const std::string& message : messages) {
        EXPECT_NE(page.find("\n" + message + "\n"), std::string::npos) << message;
    }
}

}  // namespace
