// SPDX-License-Identifier: BSL-1.0
// docs/counters.md shows all existing counters. To correct the page, copy the table that the
// failure prints.
#include <quern/counters/registry.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

namespace counters = quern::counters;

std::string text_of(const char* file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

/// Whether each worker has one.
bool is_of_workers(const std::string& name, const quern::runtime& rt) {
    const std::size_t slash = name.find('/', 1);
    try {
        counters::discover(name.substr(0, slash) + "{worker-thread#0}" + name.substr(slash), rt);
        return true;
    } catch (const std::invalid_argument&) {
        return false;
    }
}

std::string expected_table() {
    constexpr const char* k_kinds[] = {"sum", "level", "ratio"};
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    std::string table = "| counter | of | kind | unit | meaning |\n|---|---|---|---|---|\n";
    for (const counters::counter_info& each : counters::all_counters()) {
        table += "| " + code(each.name) + " | " +
                 (is_of_workers(each.name, rt) ? "worker" : "whole") + " | " +
                 k_kinds[static_cast<std::size_t>(each.kind)] + " | " + each.unit + " | " +
                 each.help + " |\n";
    }
    return table;
}

// Holds: counters: counters.md shows the table and the messages as they are.
TEST(counters_page, shows_the_table) {
    const std::string page = text_of(COUNTERS_PAGE);
    const std::string table = expected_table();
    EXPECT_NE(page.find("\n" + table + "\n"), std::string::npos) << table;
}

TEST(counters_page, has_help_of_one_form_that_stands_alone) {
    for (const counters::counter_info& each : counters::all_counters()) {
        EXPECT_FALSE(each.help.ends_with('.')) << each.name << ": " << each.help;
        EXPECT_FALSE(each.help.starts_with("of th")) << each.name << ": " << each.help;
        const bool is_abbreviation = each.help.size() > 1 && std::isupper(each.help[1]) != 0;
        EXPECT_TRUE(is_abbreviation || std::islower(each.help[0]) != 0) << each.help;
    }
}

// Holds: counters: counters.md shows the table...
TEST(counters_page, shows_the_messages_as_they_are) {
    const std::string page = text_of(COUNTERS_PAGE);
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    for (const char* const name : {"/threads/time/averge", "/threads{locality#0/totl}/idle-rate"}) {
        try {
            counters::discover(name, rt);
            ADD_FAILURE() << name;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(page.find("\n" + std::string(error.what()) + "\n"), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
