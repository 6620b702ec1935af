// SPDX-License-Identifier: BSL-1.0
// Whether the table has an entry for each function that suspends: those that the generator has made
// from a non-blocking twin, and those written by hand.
#include "call_table.hpp"
#include "world.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

/// Names of functions of a source whose text holds `word` before the next function begins.
std::set<std::string> functions_with(const std::string& path, const std::string& word) {
    std::ifstream source(path);
    EXPECT_TRUE(source.is_open()) << path;
    const std::regex begin(R"(^int (MPI_\w+)\()");
    std::set<std::string> found;
    std::string name;
    for (std::string line; std::getline(source, line);) {
        std::smatch match;
        if (std::regex_search(line, match, begin)) {
            name = match[1];
        }
        if (!name.empty() && line.find(word) != std::string::npos) {
            found.insert(name);
        }
    }
    return found;
}

std::set<std::string> names_in_table() {
    std::set<std::string> names;
    for (const quern_test::call_entry& each : quern_test::call_table()) {
        names.insert(each.name);
    }
    return names;
}

void expect_entries(const std::set<std::string>& functions) {
    const std::set<std::string> known = names_in_table();
    for (const std::string& each : functions) {
        EXPECT_TRUE(known.contains(each)) << each << " has no entry in the table of calls";
    }
}

TEST(mpi_calls_covered, every_function_with_a_twin) {
    const auto functions = functions_with(QUERN_TEST_MPI_GENERATED QUERN_TEST_MPI_LIBRARY
                                          "/calls_" QUERN_TEST_MPI_LIBRARY ".cpp",
                                          "auto post = ");
    EXPECT_GE(functions.size(), 39U);  // those of MPI 3.1
    std::set<std::string> others;
    std::set<std::string> of_files;
    for (const std::string& each : functions) {
        (each.starts_with("MPI_File_") ? of_files : others).insert(each);
    }
    expect_entries(others);
    EXPECT_EQ(of_files.size(), MPI_VERSION < 4 ? 10U : 20U);  // files_test.cpp has these
}

TEST(mpi_calls_covered, every_function_written_by_hand) {
    const std::string folder = QUERN_TEST_MPI_SOURCES;
    const auto waits = functions_with(folder + "calls/handwritten_calls.cpp", "call_kind kind");
    EXPECT_GE(waits.size(), 13U);
    expect_entries(waits);
    auto exchanges = functions_with(folder + "calls/exchanges.cpp", "call_kind kind");
    EXPECT_EQ(exchanges.size(), 4U);
    if (MPI_VERSION < 4) {
        std::erase_if(exchanges, [](const std::string& each) { return each.ends_with("_c"); });
    }
    expect_entries(exchanges);
}

/// A function that is not in the table of kinds is taken for one that waits.
TEST(mpi_calls_covered, the_kind_of_every_function_is_known) {
    std::ifstream table(QUERN_TEST_MPI_SOURCES "calls/functions.txt");
    std::set<std::string> known;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line.starts_with("#") || line.starts_with("[") ? "" : line);
        for (std::string word; words >> word;) {
            const bool is_new = known.insert(word.substr(0, word.find('='))).second;
            EXPECT_TRUE(is_new) << word << " has two kinds";
        }
    }
    EXPECT_GE(known.size(), 400U);
    const auto functions = functions_with(QUERN_TEST_MPI_GENERATED QUERN_TEST_MPI_LIBRARY
                                          "/calls_" QUERN_TEST_MPI_LIBRARY ".cpp",
                                          "return");
    EXPECT_GE(functions.size(), 300U);
    for (std::string each : functions) {
        each = each.substr(std::string("MPI_").size());
        each = each.ends_with("_c") ? each.substr(0, each.size() - 2) : each;
        EXPECT_TRUE(known.contains(each)) << "MPI_" << each << " is not in functions.txt";
    }
}

}  // namespace
