// SPDX-License-Identifier: BSL-1.0
// Whether the table has an entry for each function that suspends: those that the generator has made
// from a non-blocking twin, and those written by hand.
#include "call_table.hpp"
#include "world.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
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
    EXPECT_GE(functions.size(), 29U);  // those of MPI 3.1
    expect_entries(functions);
}

TEST(mpi_calls_covered, every_function_written_by_hand) {
    const std::string folder = QUERN_TEST_MPI_SOURCES;
    const auto waits = functions_with(folder + "own_calls.cpp", "call_kind kind");
    EXPECT_GE(waits.size(), 13U);
    expect_entries(waits);
    auto exchanges = functions_with(folder + "exchanges.cpp", "call_kind kind");
    EXPECT_EQ(exchanges.size(), 4U);
    if (MPI_VERSION < 4) {
        std::erase_if(exchanges, [](const std::string& each) { return each.ends_with("_c"); });
    }
    expect_entries(exchanges);
}

}  // namespace
